import { type Headline, headlineOf, type VerifiedHeadline } from '../../repository/headlines/headline.ts';
import type { HeadlinesRequest } from '../../repository/headlines/headlines.ts';
import { createLocalRepository } from '../../repository/local-repository.ts';
import type { ListedSnapshot, RemoteRepository } from '../../repository/remote-repository.ts';
import { manifestKey } from '../../repository/repository.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, toUserError, type UserError } from '../../runtime/errors.ts';
import { assertShared } from '../sign-in/sharing.ts';
import { findTarget } from '../targets/find-target.ts';
import { locationsOf, openLocation, type RemoteLocation } from './remote-repositories.ts';
import { isSanitized, trustedKeysOf } from './signatures.ts';

export interface LocatedSnapshot {
  headline: Headline;
  /** The data counts as sanitized: by `isSanitized`, or by a claim of the hub that the manifest confirms before use. */
  sanitized: boolean;
  /** It is on this machine. */
  local: boolean;
  remote: RemoteRepository | null;
}

export interface ListRequest {
  target: string;
  /** Includes snapshots of a share target that were not sanitized. */
  original: boolean;
  /** Timeout after which a remote repository is skipped, in milliseconds. Default 20 s. */
  timeoutMs?: number | undefined;
  /** At least this number of families, the newest ones. Default: all. */
  families?: number | undefined;
}

const TIMEOUT_MS = 20_000;

/** A target's snapshots on this machine and on its remote repositories, newest first. */
export function listEverywhere(context: Context, request: ListRequest): Promise<LocatedSnapshot[]> {
  const { share } = findTarget(context.configuration, request.target);
  const isCloud = context.configuration.cloud?.has(request.target) ?? false;
  return share && !isCloud ? listShared(context, request) : listOwn(context, request);
}

async function listOwn(
  context: Context,
  { target, original, timeoutMs = TIMEOUT_MS, families }: ListRequest,
): Promise<LocatedSnapshot[]> {
  const repository = repositoryHere(context);
  const { share } = findTarget(context.configuration, target);
  const trustedKeys = trustedKeysOf(context);
  const listing = { target, isEnough: families === undefined ? undefined : hasFamilies(families, () => true) };
  const [manifests, remote] = await Promise.all([
    repository.list(target),
    Promise.all(locationsOf(context, target).map((location) => listRemote(context, { location, listing, timeoutMs }))),
  ]);
  const placed = new Map<string, LocatedSnapshot>();
  for (const found of remote.flatMap(({ found }) => found)) placed.set(manifestKey(found.headline), found);
  for (const manifest of manifests) {
    const key = manifestKey(manifest);
    const other = placed.get(key);
    const headline = headlineOf(manifest);
    // Pinned on either side is pinned: somebody else may have pinned the one in the bucket.
    const pinned = headline.pinned ?? other?.headline.pinned;
    placed.set(key, {
      headline: { ...headline, ...(pinned && { pinned }) },
      sanitized: isSanitized(headline, trustedKeys),
      local: true,
      remote: other?.remote ?? null,
    });
  }
  const failed = remote.find(({ location, error }) => error !== null && 'cloudTarget' in location)?.error;
  if (failed && placed.size === 0) throw failed;
  // Readers of a cloud target get originals on request only, as with a share target.
  return newestFirst([...placed.values()].filter(({ sanitized }) => original || sanitized || !share));
}

/** A remote repository that cannot be reached does not hide what is on this machine. */
async function listRemote(
  context: Context,
  { location, listing, timeoutMs }: { location: RemoteLocation; listing: HeadlinesRequest; timeoutMs: number },
): Promise<{ location: RemoteLocation; found: LocatedSnapshot[]; error: UserError | null }> {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const asking = await openLocation({ ...context, signal }, location, { listing: true });
    const listed = await asking.headlines(listing);
    const remote = listed.length === 0 ? asking : await asking.within(context.signal);
    return { location, found: listed.map((one) => placedOf(context, { listed: one, remote })), error: null };
  } catch (thrown) {
    context.signal.throwIfAborted();
    const error = toUserError(thrown);
    if (!signal.aborted && error.exit !== EXIT.unreachable) throw thrown;
    const reason = signal.aborted ? `no answer within ${timeoutMs / 1000} s` : error.message;
    const [what, code] =
      'profile' in location
        ? [`storage profile "${location.profile}"`, 'shelf_unreachable']
        : ['the hub', error.code === 'cloud_token_refused' ? error.code : 'cloud_unreachable'];
    const message = `Could not list ${what}: showing local snapshots only (${reason})`;
    context.report({ event: 'warning', code, message });
    return { location, found: [], error };
  }
}

/** Whatever is on the remote repository, of whatever target; nothing that was not sanitized, unless it is asked for. */
async function listShared(
  context: Context,
  { target, original, timeoutMs, families }: ListRequest,
): Promise<LocatedSnapshot[]> {
  await assertShared(context, target);
  const signals = [context.signal, ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)])];
  const asking = { ...context, signal: AbortSignal.any(signals) };
  const trustedKeys = trustedKeysOf(context);
  const isCounted = (headline: VerifiedHeadline): boolean => original || isSanitized(headline, trustedKeys);
  const isEnough = families === undefined ? undefined : hasFamilies(families, isCounted);
  const here = new Set((await repositoryHere(context).files()).map(({ key }) => key));
  const lists = await Promise.all(
    locationsOf(context, target).map(async (location) => {
      const limited = await openLocation(asking, location);
      const listed = await limited.headlines({ isEnough });
      const remote = await limited.within(context.signal);
      const placed = listed.map((one) => placedOf(context, { listed: one, remote }));
      return placed.map((one) => ({ ...one, local: here.has(manifestKey(one.headline)) }));
    }),
  );
  return newestFirst(lists.flat().filter(({ sanitized }) => original || sanitized));
}

function placedOf(
  { configuration }: Context,
  { listed, remote }: { listed: ListedSnapshot; remote: RemoteRepository },
): LocatedSnapshot {
  const place = { local: false, remote };
  if ('claimed' in listed) return { headline: listed.claimed, sanitized: listed.claimed.sanitized, ...place };
  const headline = listed.verified;
  return { headline, sanitized: isSanitized(headline, trustedKeysOf({ configuration })), ...place };
}

/** A snapshot and what was made of it have one family, and one time. */
export function familyOf({ headline: { sanitized_of, id } }: Pick<LocatedSnapshot, 'headline'>): string {
  return sanitized_of ?? id;
}

/** Reports whether the newest snapshots include so many families, each to its end. */
function hasFamilies(count: number, isCounted: (headline: VerifiedHeadline) => boolean) {
  return (newest: VerifiedHeadline[]): boolean => {
    const oldest = newest.at(-1)?.created_at ?? '';
    const whole = newest.filter((headline) => headline.created_at > oldest && isCounted(headline));
    return new Set(whole.map((headline) => familyOf({ headline }))).size >= count;
  };
}

function newestFirst(placed: LocatedSnapshot[]): LocatedSnapshot[] {
  const age = ({ headline: { created_at, id } }: LocatedSnapshot): string => `${created_at} ${id}`;
  return placed.sort((a, b) => (age(a) < age(b) ? 1 : -1));
}

function repositoryHere({ configuration, report }: Context) {
  return createLocalRepository({ directory: configuration.settings.working_directory, report });
}
