import { bytesOfTable } from '../../../repository/manifest/manifest.ts';
import type { WarningEvent } from '../../../results/events.ts';
import type { DestinationState } from '../../../results/load-results.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { RestorePlan, RestoreRequest } from '../../facets/restore.ts';
import { assertEnoughSpace } from '../../shared/disk-space.ts';
import { divideTables } from '../../shared/rows/divide-tables.ts';
import { findBaseCopies } from '../branches/base/base-copies.ts';
import { readCode } from '../catalog/definitions/read-definitions.ts';
import { invalidViewsFound, invalidViewsOf } from '../catalog/definitions/view-needs.ts';
import { LABELS, type Server } from '../catalog/introspect.ts';
import { assertNoNameCollision, readNameCase } from '../catalog/name-case.ts';
import { readGrants } from '../catalog/rights/rights.ts';
import { tablesOf } from '../catalog/tables.ts';
import { connectToServer } from '../connection/connect.ts';
import type { MysqlSession } from '../connection/session.ts';
import { type Details, detailsOf } from '../details.ts';
import { assertNoForeignReferences } from '../swap/foreign-references.ts';
import { hasRoutines, readRoutineGrants } from '../swap/routine-grants.ts';
import { longSwapWarnings } from '../swap/swap-duration.ts';
import { planDifference } from './difference/plan-difference.ts';
import { eventWarnings } from './event-warnings.ts';
import { type InspectedDestination, inspectDestination } from './inspect-destination.ts';
import { remoteWarnings } from './left-out.ts';
import { checkPacketLimit } from './rows/packet-limit.ts';
import { chooseRestorer } from './temporary-user.ts';

/** Plans a restore: whether a snapshot can be restored and with what consequences. Changes nothing. */
export async function planRestore(context: EngineContext, request: RestoreRequest): Promise<RestorePlan> {
  const { url, manifest, inPlace, keepBase } = request;
  if (inPlace) throw notInPlace();
  const details = detailsOf(manifest);
  const inspected = await inspectDestination(context, url);
  const { destination, server, packet } = inspected;
  await using session = await connectToServer(context, url);
  const copies = await findBaseCopies(session, destination.database);
  const lost = destination.exists ? await lossWarnings(session, request) : [];
  const arriving = arrivingNames(details, request);
  const names = destination.exists
    ? (await tablesOf(session, destination.database)).length + arriving.tables.length
    : 0;
  assertSameFlavour(details, inspected);
  const all = [...arriving.tables, ...arriving.views];
  assertNoNameCollision(await readNameCase(session, all), all);
  const { tables, empty } = divideTables(manifest.tables, request);
  const packets = checkPacketLimit({ ...packet, details, tables, boundsJson: server.flavour === 'mysql' });
  const bytes = tables.reduce((sum, table) => sum + bytesOfTable(table), 0);
  assertEnoughSpace(inspected, copiesOf(keepBase) * bytes);
  const { base } = copies;
  const takesRowsFast = destination.local && packet.localInfile;
  const difference = base && (await planDifference(session, { request, details, base, tables, takesRowsFast }));
  const isUsed = !keepBase && request.keepUsedBase && (difference?.tables || difference?.savesNothing);
  const { freeBytes } = inspected;
  const keepsUsedBase = isUsed && (freeBytes === null || freeBytes >= (copiesOf(keepBase) + 1) * bytes);
  return {
    destination,
    strategy: 'swap',
    strategyReason: 'the destination is unchanged until the shadow database is complete',
    restoredBy: await chooseRestorer(context, request),
    schemas: manifest.schemas,
    tables,
    empty,
    copies,
    ...(difference && { difference }),
    ...(keepsUsedBase && { keepsUsedBase }),
    warnings: [
      ...remoteWarnings(details.definitions_only ?? [], { created: request.remoteTables ?? false }),
      ...eventWarnings(details, { events: request.events ?? false, isSave: request.manifest.save !== undefined }),
      ...versionWarnings(server, request),
      ...packets,
      ...sessionWarnings(destination),
      ...longSwapWarnings(names, { flavour: server.flavour, database: destination.database }),
      ...invalidViewsFound(details.invalid_views ?? []),
      ...lost,
    ],
  };
}

function copiesOf(keepBase: RestoreRequest['keepBase']): number {
  return 1 + (keepBase ? (keepBase.spare ? 2 : 1) : 0);
}

/** Tables, sequences and views share one set of names, triggers have another. */
function arrivingNames(
  { inventory, definitions_only: withoutRows = [] }: Details,
  { remoteTables = false }: RestoreRequest,
): { tables: string[]; views: string[] } {
  const leftOut = new Set(withoutRows.filter(({ remote }) => remote && !remoteTables).map(({ table }) => table));
  const named = (...kinds: string[]): string[] =>
    kinds.flatMap((kind) => inventory[kind] ?? []).filter((name) => !leftOut.has(name));
  return { tables: named('table', 'sequence'), views: named('view') };
}

/** A snapshot of one flavour goes into the other only when nothing in it is the first one's own. */
export function assertSameFlavour(
  details: Pick<Details, 'flavour' | 'features' | 'collations'>,
  { server, collations }: Pick<InspectedDestination, 'server' | 'collations'>,
): void {
  const unknown = details.collations.filter((name) => !isKnown(name, collations));
  const reasons = [
    ...(unknown.length > 0 ? [`${server.label} does not know the collation ${unknown.join(', ')}`] : []),
    ...(details.flavour === server.flavour ? [] : details.features),
  ];
  if (reasons.length === 0) return;
  throw new UserError('flavour_differs', `Cannot create the source's tables on ${server.label}`, {
    details: reasons,
    hint: `Nothing was changed. Choose a destination of the source's own flavour, ${details.flavour === 'mysql' ? 'MySQL' : 'MariaDB'}.`,
  });
}

function isKnown(collation: string, known: Set<string>): boolean {
  return known.has(collation) || known.has(collation.replace(/^[a-z0-9]+_/, ''));
}

function versionWarnings({ flavour, version, label }: Server, { manifest }: RestoreRequest): WarningEvent[] {
  const { server_version } = manifest;
  const original = detailsOf(manifest).flavour;
  if (flavour !== original) {
    const message = `The snapshot is of ${LABELS[original]}, the destination is ${label}: only features of both are restored`;
    return [{ event: 'warning', code: 'other_flavour', message }];
  }
  if (version.localeCompare(server_version, 'en', { numeric: true }) >= 0) return [];
  if (majorAndMinor(version) === majorAndMinor(server_version)) return [];
  const message = `The snapshot is of version ${server_version}, the destination is ${version}: newer features may fail to restore`;
  return [{ event: 'warning', code: 'server_older', message }];
}

/** Warns of parts of the destination that neither the load nor an undo preserves, before anything is changed. */
async function lossWarnings(server: MysqlSession, { url }: RestoreRequest): Promise<WarningEvent[]> {
  const database = url.database ?? '';
  const warnings: WarningEvent[] = [];
  const code = await readCode(server, database, (what, why) => {
    const message = `The ${what} of ${database} cannot be read, so tool undo will not restore it: ${why}`;
    warnings.push({ event: 'warning', code: 'definition_unreadable', message });
  });
  const invalid = invalidViewsOf(code);
  if (invalid.length > 0) {
    const message = `Views of ${database} that are not valid, which tool undo will not restore: ${invalid.join(', ')}`;
    warnings.push({ event: 'warning', code: 'view_invalid', message });
  }
  await assertNoForeignReferences(server, database);
  return [...warnings, ...(await grantWarnings(server, database))];
}

/** Rights on routines go with the routines. */
async function grantWarnings(server: MysqlSession, database: string): Promise<WarningEvent[]> {
  if (!(await hasRoutines(server, database))) return [];
  const grants = await readRoutineGrants(server, database);
  const [self] = await server.query<{ account: string }>('SELECT CURRENT_USER() AS account');
  const others = grants?.filter(({ user, host }) => `${user}@${host}` !== self?.account) ?? [];
  const mayGrant = (await readGrants(server)).some((line) => line.endsWith('WITH GRANT OPTION'));
  if (grants && (others.length === 0 || mayGrant)) return [];
  const why = grants ? 'the user has no GRANT OPTION' : 'the user may not read them (SELECT on mysql.procs_priv)';
  const message = `Rights on routines of ${database} will not be carried over: ${why}`;
  return [{ event: 'warning', code: 'not_carried_over', message }];
}

function majorAndMinor(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

export function sessionWarnings({ connections, database }: DestinationState): WarningEvent[] {
  if (connections === 0) return [];
  const sessions = connections === 1 ? '1 session is' : `${connections} sessions are`;
  const message = `${sessions} open on ${database}: those that keep a transaction open are ended when the tables are swapped`;
  return [{ event: 'warning', code: 'sessions_open', message }];
}

function notInPlace(): UserError {
  return new UserError('in_place_impossible', 'MySQL and MariaDB cannot be loaded in place', {
    hint: 'CREATE TABLE cannot be rolled back there, so a failure would lose the destination. Omit --in-place.',
  });
}
