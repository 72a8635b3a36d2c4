import { ORIGINALS_HINT, sharedOriginals } from '../../config/rules/shared-originals.ts';
import type { EngineId } from '../../engines/list.ts';
import { openDatabase } from '../../engines/open-database.ts';
import { engineForUrl, engineOf } from '../../engines/registry.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import { createObjectPool } from '../../repository/objects/object-pool.ts';
import type { SanitizePlan, SanitizeResult } from '../../results/review/sanitize-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { type KeepComment, readKeepComments } from '../../sanitize/keep-comments.ts';
import { chooseQuery, chosenQuery, type SanitizeQuery } from '../../sanitize/query.ts';
import type { Statement } from '../../sanitize/statement.ts';
import { shell } from '../../text/shell-word.ts';
import type { SnapshotSelector } from '../../text/snapshot-selector.ts';
import { type BuildRequest, build } from '../build/build.ts';
import { cpusFor } from '../cpus-for.ts';
import { contentOf } from '../expected-steps.ts';
import { recorded } from '../history/recorded.ts';
import { type Planned, planOutdated } from '../planned.ts';
import { keepTargetImage } from '../servers/target-image.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { locationFor } from '../snapshots/remote-repositories.ts';
import { assertTrusted, type TrustChoice } from '../snapshots/signatures.ts';
import { snapshotReader } from '../snapshots/snapshot-reader.ts';
import { findSnapshot, snapshotRow } from '../snapshots/snapshots.ts';
import { pullFiles } from '../snapshots/transfer/pull.ts';
import { pushStored } from '../snapshots/transfer/push.ts';
import { statingOutcome } from '../stating-outcome.ts';
import { findTarget } from '../targets/find-target.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';
import { searchCanaries } from './canaries/search-canaries.ts';
import { sanitizeExpectedSteps } from './expected-steps.ts';
import { assertStoredClassified, requiresClassified } from './ledger/ledger-gate.ts';
import { publish } from './publish.ts';
import { type SanitizedDump, sanitizeDatabase } from './sanitize-database.ts';
import { choosePlaces, openPlace, restorerIn, type SanitizePlace } from './sanitize-place.ts';
import { sourceOf } from './source-of.ts';

export interface SanitizeRequest extends TrustChoice {
  target: string;
  /** Default 0. Ignored with `build`. */
  snapshot?: SnapshotSelector;
  /** Takes a new snapshot first, in this way. */
  build?: Pick<BuildRequest, 'note' | 'includeNeededSchemas' | 'full' | 'excludeRows' | 'nullify'>;
  /** In a throw-away database, even where `sanitize.dst_url` is set. */
  ephemeral?: boolean;
  /** Publishes nothing while personal data is left that no comment of the query lets stay. */
  strict?: boolean;
  /** Restores and runs the query as the superuser of a server of our own, which its files and this machine then are open to. */
  allowSuperuser?: boolean;
  /** `false` keeps no copy of the database that is replaced. Default `true`. */
  undo?: boolean;
  cpus?: number;
  /** Synthetic persons whose marked values are searched in what the query makes of them. */
  canaries?: number;
  /** `false` leaves it on this machine only. Default: pushed when there is a storage profile for it. */
  push?: boolean;
}

export interface PlannedSanitize extends Planned<SanitizeRequest, SanitizePlan> {
  engine: EngineId;
  /** Comments of the query that was read; its statements are in the plan. */
  keep: KeepComment[];
}

/** Each is inserted by itself, into each table. */
const MOST_CANARIES = 1000;

/** Looks at query, snapshot and destination, changes nothing. */
export async function planSanitize(given: Context, request: SanitizeRequest): Promise<PlannedSanitize> {
  const context = await withUrls(given, request);
  const { configuration } = context;
  const { target, canaries = 0 } = request;
  findTarget(configuration, target);
  if (canaries > MOST_CANARIES)
    throw new UserError('invalid_value', `--canaries is at most ${MOST_CANARIES}`, { hint: 'Some ten are enough.' });
  const query = await chooseQuery(context, target);
  if (!query) throw queryMissing(target);
  const found = request.build ? null : await findSnapshot(context, { ...request, original: true });
  if (found) assertTrusted(context, found.manifest, request);
  if (found) await assertStoredClassified(context, found.manifest);
  const engine = found ? engineOf(found.manifest.engine) : engineForUrl(sourceOf(context, target));
  const statements = await engine.splitQuery(query.text);
  if (statements.length === 0) throw queryEmpty(query);
  const keep = readKeepComments(query.text);
  const { ephemeral = false } = request;
  const places = await choosePlaces(context, { target, engine, ephemeral });
  const [place] = places;
  if (!place) throw new Error('no place was chosen');
  const destination = place.destination;
  const undo = (request.undo ?? true) && (destination?.exists ?? false);
  const restorer = await restorerIn(context, place, { allowSuperuser: request.allowSuperuser ?? false });
  const strict = request.strict ?? isShared(context, target);
  const plan: SanitizePlan = {
    target,
    snapshot: found?.row ?? null,
    query: { chosen_by: query.chosenBy, file: query.file, base64: query.base64, statements },
    destination,
    where: place.label,
    ...restorer,
    strict,
    undo,
    unverified_sources: place.unverified ?? [],
    steps: stepsOf({ builds: !found, statements, destination, undo, where: place.label }),
    warnings: request.build ? sharingWarnings(configuration, request) : [],
  };
  return { request, plan, planned_at: context.clock().toISOString(), engine: engine.id, keep };
}

/**
 * Does what was planned: the statements that were shown, whatever the query is by now. Steps: those of a load, and in it
 * `survey`, `query`, `coverage`, `dump`, `traces`; then `store`, `push`.
 */
export function applySanitize(given: Context, planned: PlannedSanitize): Promise<SanitizeResult> {
  const { target, snapshot, destination, undo } = planned.plan;
  return recorded(
    given,
    { operation: 'sanitize', target, from: snapshot?.id ?? null, to: destination?.url ?? null },
    {
      work: (timed) =>
        destination
          ? statingOutcome(timed, { target, destination, undo }, (context) => perform(context, planned))
          : perform(timed, planned),
      facts: ({ snapshot: { id, size_bytes, sanitized }, original, swap_ms }) => ({
        ...{ snapshot: id, from: original.id, sanitized, size_bytes, swap_ms },
      }),
      steps: ({ original }) => sanitizeExpectedSteps(planned.plan, contentOf(original)),
    },
  );
}

async function perform(given: Context, planned: PlannedSanitize): Promise<SanitizeResult> {
  const { request, plan, keep } = planned;
  const context = await withUrls(given, request);
  const { target, undo, strict } = plan;
  const { statements } = plan.query;
  const places = await plannedPlaces(context, planned);
  const built = request.build ? await build(context, { ...request, ...request.build }) : null;
  const { manifest, local, remote } = await findSnapshot(context, {
    target,
    snapshot: built?.id ?? plan.snapshot?.id ?? 0,
    original: true,
  });
  // What was built just now needs no trust in anybody else.
  if (!built) assertTrusted(context, manifest, request);
  if (!local && remote) await pullFiles(context, { manifest, remote, keep: true });
  const result = await sanitizeIn(context, { request, manifest, statements, keep, places, strict, undo });
  return built?.reading ? { ...result, original: { ...result.original, reading: built.reading } } : result;
}

function withUrls(context: Context, { target, build }: SanitizeRequest): Promise<Context> {
  return withTargetUrls(context, target, { source: build !== undefined });
}

/** Returns the possible places. Throws unless the result still replaces the database that was shown, or none. */
async function plannedPlaces(context: Context, planned: PlannedSanitize): Promise<SanitizePlace[]> {
  const { target, destination, unverified_sources: accepted } = planned.plan;
  const engine = engineOf(planned.engine);
  const { ephemeral = false } = planned.request;
  const quiet = { ...context, report: () => {} };
  const places = await choosePlaces(quiet, { target, engine, ephemeral, accepted });
  const now = places[0]?.destination?.url;
  if (now === destination?.url) return places;
  const [is, was] = [now, destination?.url].map((url) => url ?? 'a throw-away database');
  throw planOutdated(`The destination is ${is}, no longer ${was},`);
}

/** The original that is built first is pushed as well. */
function sharingWarnings({ settings }: Context['configuration'], { target, push }: SanitizeRequest) {
  const message = push === false ? null : sharedOriginals(settings, settings.targets[target]?.storage_profile);
  return message === null ? [] : [{ code: 'originals_shared', message: `${message}. ${ORIGINALS_HINT}` }];
}

/** Reports whether new snapshots of the target are to be sanitized: its own query or the global one applies. */
export function hasSanitizeQuery({ configuration }: Context, target: string): boolean {
  findTarget(configuration, target);
  return chosenQuery(configuration, target) !== null;
}

interface Work {
  request: SanitizeRequest;
  manifest: Manifest;
  statements: Statement[];
  keep: KeepComment[];
  places: SanitizePlace[];
  strict: boolean;
  undo: boolean;
}

async function sanitizeIn(context: Context, work: Work): Promise<SanitizeResult> {
  const { request, manifest, statements, keep, places, strict, undo } = work;
  const repository = localRepository(context);
  const cpus = request.cpus ?? cpusFor(context, request.target);
  const { target, canaries: persons, allowSuperuser = false } = request;
  const isStrict = strict || requiresClassified(context.configuration, target);
  const searched = { target, manifest, statements, keep, cpus, allowSuperuser, strict: isStrict };
  const canaries = persons === undefined ? null : await searchCanaries(context, { ...searched, persons });
  await using opened = await openPlace(context, {
    places,
    manifest,
    superuser: allowSuperuser,
  });
  const { place, database, restoration, plan } = opened;
  await using staging = await repository.stage();
  await using pool = createObjectPool(cpus + 1);
  for (const warning of plan.warnings) context.report(warning);
  const stays = place.destination !== null;
  const directory = await staging.folder('restore');
  const { published, coverage, swapMs, undoDatabase } = await repository.withoutLeftovers(async () => {
    let sanitized: SanitizedDump | undefined;
    const swapped = await database.restore.run({
      ...restoration,
      plan,
      cpus,
      undo,
      directory,
      read: snapshotReader({ manifest, repository, pool, signal: context.signal }),
      throwAway: !stays,
      async beforeSwap(url) {
        const restored = { database: openDatabase(context, url), manifest, statements, keep };
        sanitized = await sanitizeDatabase(context, { ...restored, repository, pool, cpus, strict, stays });
      },
    });
    if (!sanitized) throw new Error('the restore did not offer its database');
    const { coverage } = sanitized;
    return {
      ...swapped,
      coverage,
      published: await publish(context, { repository, original: manifest, sanitized, statements }),
    };
  });
  const location = (request.push ?? true) ? locationFor(context, manifest.target, published) : null;
  if (location !== null) await pushStored(context, published, location);
  await keepTargetImage(context, { manifest: published, sanitized: published.sanitized, location });
  const { index } = (await findSnapshot(context, { target: manifest.target, snapshot: published.id })).row;
  return {
    snapshot: {
      ...snapshotRow(context, published, index),
      ...(location !== null && { where: ['local', 'remote'] as const }),
    },
    original: snapshotRow(context, manifest, index),
    destination: stays ? database.url.display : null,
    statements: statements.length,
    coverage,
    ...(canaries && { canaries }),
    swap_ms: swapMs,
    undo_database: undoDatabase,
  };
}

/** Reports whether the result goes to the hub or a profile that others load from: it must be sanitized wholly. */
function isShared(context: Context, target: string): boolean {
  const { settings } = context.configuration;
  const location = locationFor(context, target, { sanitized: true });
  if (location !== null && 'cloudTarget' in location) return true;
  const profile = settings.targets[target]?.sanitize?.storage_profile;
  const shares = Object.values(settings.targets).map(({ share }) => share?.storage_profile_name);
  return profile !== undefined && shares.includes(profile);
}

interface Steps extends Pick<SanitizePlan, 'destination' | 'undo' | 'where'> {
  builds: boolean;
  statements: Statement[];
}

function stepsOf({ builds, statements, destination, undo, where }: Steps): string[] {
  const shadow = destination ? `a shadow database beside ${where}` : where;
  return [
    ...(builds ? ['Build a new snapshot of the source'] : []),
    `Restore the original into ${shadow}`,
    `Run ${statements.length === 1 ? 'the statement' : `the ${statements.length} statements`} of the query there`,
    'Find personal columns that are unchanged',
    'Search the result for original values',
    'Store the result as the sanitized snapshot',
    ...(destination?.exists
      ? ['Swap the two databases by name', undo ? 'Keep the previous database' : 'Drop the previous database']
      : []),
    ...(destination && !destination.exists ? ['Rename it to the destination'] : []),
    ...(destination ? [] : ['Drop the database']),
  ];
}

function queryMissing(target: string): UserError {
  return new UserError('query_missing', `Target "${target}" has no sanitization query`, {
    hint: `Write a first one: ${shell`tool sanitize ${target} --suggest > sanitize.sql`}. Then set targets.${target}.sanitize.query_file.`,
  });
}

function queryEmpty({ chosenBy }: SanitizeQuery): UserError {
  return new UserError('query_missing', `The sanitization query of ${chosenBy} holds no statement`, {
    hint: 'Without one the original itself would be published as sanitized.',
  });
}
