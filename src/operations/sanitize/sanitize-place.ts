import { connectionUrl } from '../../config/urls/connection-url.ts';
import type { Engine } from '../../engines/engine.ts';
import type { WithoutUrl } from '../../engines/engine-context.ts';
import type { RestorePlan, RestoreRequest } from '../../engines/facets/restore.ts';
import type { OpenedPlace, PlaceOptions, ScratchPlace } from '../../engines/facets/sanitize.ts';
import { type Database, openDatabase } from '../../engines/open-database.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { DestinationState, RestoredBy } from '../../results/load-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { findDestinationUrl } from '../load/configured-destination.ts';
import { assertNotASource, type GuardOptions } from '../load/guard/guard.ts';
import { restoredBy } from '../load/restored-by.ts';

/** Place in which a snapshot is restored to be sanitized. */
export interface SanitizePlace {
  /** For people. */
  label: string;
  /** The database that the result replaces; `null` for a throw-away one. */
  destination: DestinationState | null;
  server: ScratchPlace['server'];
  /** Targets of which the source could not be compared with the destination. */
  unverified?: string[];
  open(context: Context, options?: PlaceOptions): Promise<OpenedPlace>;
}

export interface PlaceRequest extends GuardOptions {
  target: string;
  engine: Engine;
  /** A throw-away database even where `sanitize.dst_url` is set. */
  ephemeral: boolean;
}

/** Returns the possible places, the best first: `sanitize.dst_url`, else throw-away databases. Refuses sources. */
export async function choosePlaces(context: Context, request: PlaceRequest): Promise<SanitizePlace[]> {
  const { configuration } = context;
  const { target, engine, ephemeral } = request;
  const text = ephemeral ? undefined : connectionUrl(configuration, `targets.${target}.sanitize.dst_url`);
  if (text !== undefined) {
    const url = engine.parseUrl(text);
    const unverified = await assertNotASource(context, url, request);
    const destination = await openDatabase(context, url).connect.inspect();
    const open = async () => ({ url, [Symbol.asyncDispose]: async () => {} });
    return [{ label: url.display, destination, server: url, unverified, open }];
  }
  // A server that cannot be used is only one place less to choose from.
  const server = findDestinationUrl(configuration, target);
  const places = await engine.scratchPlaces(context, server?.engine === engine.id ? server : null);
  if (places.length > 0) return places.map((place) => ({ ...place, destination: null }));
  throw new UserError('no_place', `There is nowhere to sanitize a snapshot of "${target}"`, {
    hint: `Set targets.${target}.sanitize.dst_url or snapshot.dst_url, or install the server programs of the database.`,
  });
}

export interface OpenPlace extends AsyncDisposable {
  place: SanitizePlace;
  database: Database;
  restoration: WithoutUrl<RestoreRequest>;
  plan: RestorePlan;
}

/** Opens the first place that has what the snapshot needs, and plans the restore of all that is in it. */
export async function openPlace(
  context: Context,
  { places, ...work }: Omit<Trial, 'place'> & { places: SanitizePlace[] },
): Promise<OpenPlace> {
  for (const [index, place] of places.entries()) {
    const isLast = index === places.length - 1;
    try {
      const opened = await tryPlace(context, { ...work, place });
      const differs = opened.plan.warnings.find(({ code }) => UNLIKE.has(code));
      if (!differs || isLast) return opened;
      await opened[Symbol.asyncDispose]();
      passOver(context, place, differs.message);
    } catch (error) {
      if (isLast || !(error instanceof UserError && LACKS.has(error.code))) throw error;
      passOver(context, place, error.message);
    }
  }
  throw new Error('no place was given');
}

/** Returns the restoring user that `openPlace` plans: an own server has no other databases and no rights on files. */
export async function restorerIn(
  context: Context,
  { server }: Pick<SanitizePlace, 'server'>,
  { allowSuperuser }: { allowSuperuser: boolean },
): Promise<RestoredBy> {
  if (server)
    return restoredBy(
      await openDatabase(context, server).restore.chooseRestorer({ allowSuperuser, neverInPlace: true }),
    );
  return allowSuperuser
    ? { restored_by: 'loading_user', restored_by_reason: '--allow-superuser was given' }
    : { restored_by: 'temporary_user', restored_by_reason: 'it has no rights outside a throw-away server' };
}

interface Trial {
  place: SanitizePlace;
  manifest: Manifest;
  /** Restores the content with the rights of the user of the URL. */
  superuser?: boolean;
}

async function tryPlace(context: Context, { place, manifest, superuser = false }: Trial): Promise<OpenPlace> {
  const opened = await place.open(context, { superuser });
  try {
    const database = openDatabase(context, opened.url);
    const schemaConfig = { include_schemas: manifest.schemas };
    const restoration = {
      allowSuperuser: superuser,
      manifest,
      schemaConfig,
      inPlace: false,
      neverInPlace: true,
    };
    const plan = await database.restore.plan(restoration);
    if (plan.strategy !== 'swap') throw needsDatabase(place, plan);
    return { place, database, restoration, plan, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

function passOver({ report }: Context, { label }: SanitizePlace, why: string): void {
  report({ event: 'warning', code: 'place_passed_over', message: `Skipped ${label}: ${why}` });
}

/** Codes of errors for what a server lacks or cannot do, and the next place may have. */
const LACKS = new Set([
  'extension_missing',
  'role_missing',
  'space_short',
  'flavour_differs',
  'server_not_started',
  'server_missing',
  'container_not_started',
  'image_unavailable',
]);

/** Warnings of a restore that say that the server is not like the one of the snapshot. */
const UNLIKE = new Set(['server_older', 'other_flavour']);

/** In place the original would lie in the destination when the query fails. */
function needsDatabase({ label }: SanitizePlace, { strategyReason }: RestorePlan): UserError {
  return new UserError('may_not_create', `Cannot create a second database beside ${label}: ${strategyReason}`, {
    hint: 'The query runs in a new database, so that nothing unsanitized is ever in the destination. Let the role create databases, or pass --ephemeral.',
  });
}
