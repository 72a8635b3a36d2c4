import { manifestKey } from '../../repository/catalogue.ts';
import { type Headline, headlineOf } from '../../repository/headline.ts';
import { createRepository } from '../../repository/repository.ts';
import type { Shelf } from '../../repository/shelf.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, toUserError, UserError } from '../../runtime/errors.ts';
import { findTarget } from '../find-target.ts';
import { refuseUnshared } from '../sign-in/sharing.ts';
import { openProfile, profilesOf } from './shelves.ts';

/** A snapshot, and where it is. */
export interface PlacedSnapshot {
  headline: Headline;
  /** Whether it is on this machine. */
  local: boolean;
  /** The shelf that holds it, if one does. */
  shelf: Shelf | null;
}

export interface ListRequest {
  target: string;
  /** Of a share target also what was not sanitized. */
  original: boolean;
  /** A shelf that has not answered after so many milliseconds is done without. Default 20 s. */
  patience?: number | undefined;
}

const PATIENCE = 20_000;

/** A target's snapshots on this machine and on its shelves, newest first. */
export function listEverywhere(context: Context, request: ListRequest): Promise<PlacedSnapshot[]> {
  const { share } = findTarget(context.configuration, request.target);
  if (context.configuration.cloud?.has(request.target)) return Promise.reject(onHubOnly(context, request.target));
  return share ? listShared(context, request) : listOwn(context, request);
}

async function listOwn(context: Context, { target, patience = PATIENCE }: ListRequest): Promise<PlacedSnapshot[]> {
  const repository = repositoryHere(context);
  const [manifests, remote] = await Promise.all([
    repository.list(target),
    Promise.all(profilesOf(context, target).map((profile) => onShelf(context, { profile, target, patience }))),
  ]);
  const placed = new Map<string, PlacedSnapshot>();
  for (const found of remote.flat()) placed.set(manifestKey(found.headline), found);
  for (const manifest of manifests) {
    const key = manifestKey(manifest);
    placed.set(key, { headline: headlineOf(manifest), local: true, shelf: placed.get(key)?.shelf ?? null });
  }
  return newestFirst([...placed.values()]);
}

function onHubOnly({ configuration }: Context, target: string): UserError {
  const count = configuration.cloud?.get(target)?.snapshots ?? 0;
  return new UserError(
    `The ${count} snapshots of target "${target}" are on the hub, from which they are not loaded yet`,
    {
      code: 'cloud_target_listed',
      exit: EXIT.failed,
      hint: 'Load them from a bucket: a share target in the configuration names its storage profile.',
    },
  );
}

interface Asking {
  profile: string;
  target: string;
  patience: number;
}

/** A shelf that cannot be reached does not hide what is on this machine. */
async function onShelf(context: Context, { profile, target, patience }: Asking): Promise<PlacedSnapshot[]> {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(patience)]);
  try {
    const asking = await openProfile({ ...context, signal }, profile);
    const headlines = await asking.headlines(target);
    if (headlines.length === 0) return [];
    const shelf = await asking.within(context.signal);
    return headlines.map((headline) => ({ headline, local: false, shelf }));
  } catch (thrown) {
    context.signal.throwIfAborted();
    const error = toUserError(thrown);
    if (!signal.aborted && error.exit !== EXIT.unreachable) throw thrown;
    const reason = signal.aborted ? `no answer within ${patience / 1000} s` : error.message;
    const message = `Without what is on the shelf of storage profile "${profile}": ${reason}`;
    context.report({ event: 'warning', code: 'shelf_unreachable', message });
    return [];
  }
}

/** Whatever is on the shelf, of whatever target; nothing that was not sanitized, unless it is asked for. */
async function listShared(context: Context, { target, original, patience }: ListRequest): Promise<PlacedSnapshot[]> {
  await refuseUnshared(context, target);
  const signals = [context.signal, ...(patience === undefined ? [] : [AbortSignal.timeout(patience)])];
  const asking = { ...context, signal: AbortSignal.any(signals) };
  const here = new Set((await repositoryHere(context).files()).map(({ key }) => key));
  const lists = await Promise.all(
    profilesOf(context, target).map(async (profile) => {
      const patient = await openProfile(asking, profile);
      const headlines = await patient.headlines();
      const shelf = await patient.within(context.signal);
      return headlines.map((headline) => ({ headline, local: here.has(manifestKey(headline)), shelf }));
    }),
  );
  return newestFirst(lists.flat().filter(({ headline }) => original || headline.sanitized));
}

function newestFirst(placed: PlacedSnapshot[]): PlacedSnapshot[] {
  const age = ({ headline: { created_at, id } }: PlacedSnapshot): string => `${created_at} ${id}`;
  return placed.sort((a, b) => (age(a) < age(b) ? 1 : -1));
}

function repositoryHere({ configuration, report }: Context) {
  return createRepository({ directory: configuration.settings.working_directory, report });
}
