import { bytesOfTable } from '../../../repository/manifest/manifest.ts';
import type { WarningEvent } from '../../../results/events.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BaseCopies } from '../../facets/copies.ts';
import type {
  DifferencePlan,
  RestorePlan,
  RestoreRequest,
  RestorerRequest,
  RestoringUser,
} from '../../facets/restore.ts';
import { assertEnoughSpace } from '../../shared/disk-space.ts';
import { divideTables } from '../../shared/rows/divide-tables.ts';
import { findBaseCopies } from '../branches/base-copies.ts';
import { replicationWarnings } from '../catalog/introspect.ts';
import { leftOutByBuild, selectSchemas } from '../catalog/schema-selection.ts';
import { connect } from '../connection/connect.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { findClientTools, majorOf, toolsForArchive } from '../connection/tools.ts';
import { archiveDetails } from '../dump/archive.ts';
import { checkSwap } from '../swap/blockers.ts';
import { checkRights } from '../swap/rights.ts';
import { type BaseComparison, planDifference } from './difference/plan-difference.ts';
import { assertInPlacePossible } from './in-place/in-place-preflight.ts';
import {
  type InspectedDestination,
  inspectDestination,
  type OpenedDestination,
  openForInspection,
} from './inspect-destination.ts';
import { remoteWarnings } from './remote-objects.ts';
import { admitsNewRoles } from './temporary-role.ts';

/** Plans a restore: whether it is possible, by which strategy and with what consequences. Changes nothing. */
export async function planRestore(context: EngineContext, request: RestoreRequest): Promise<RestorePlan> {
  const { url, manifest, schemaConfig } = request;
  toolsForArchive(await findClientTools(context), manifest.tool_version);
  const details = archiveDetails(manifest);
  const selection = selectSchemas(manifest.schemas, schemaConfig, leftOutByBuild(manifest, schemaConfig));
  if (selection.schemas.length === 0) throw noSchema(request);
  const { warnings } = selection;
  const needed = details.needed_schemas ?? [];
  const schemas = manifest.schemas.filter((name) => selection.schemas.includes(name) || needed.includes(name));
  await using opened = await openForInspection(context, url);
  const { facts, session } = opened;
  assertNothingMissing(facts, { extensions: details.extensions.map(({ name }) => name), roles: details.roles });
  if (request.role !== undefined) await assertUsableRole(session, url, request.role);
  const chosen = chooseStrategy(facts, request);
  if (chosen.strategy === 'in_place' && request.keepGoing) throw keepGoingNeedsSecond(chosen.strategyReason);
  if (chosen.strategy === 'in_place' && !request.neverInPlace) await assertInPlacePossible(context, { url, details });
  const choosing = { ...request, facts, strategy: chosen.strategy, superuserObjects: details.superuser_objects ?? [] };
  const admits = whyLoadingRole(choosing) === null ? admitsNewRoles(context, url) : null;
  admits?.catch(() => {});
  const wanted = new Set(schemas);
  const inSchemas = manifest.tables.filter((table) => {
    const data = details.data[table.file.name];
    return data !== undefined && (data.of_extension || wanted.has(data.schema));
  });
  const { tables, empty } = divideTables(inSchemas, request);
  const planned = { opened, details, schemas, tables: inSchemas };
  const swap = chosen.strategy === 'swap' ? await planSwap(context, request, planned) : null;
  const databases = 1 + (swap && request.keepBase ? (request.keepBase.spare ? 2 : 1) : 0);
  const copied = swap?.difference?.tables ? (swap.copies.base?.sizeBytes ?? 0) : 0;
  const rows = tables.reduce((sum, table) => sum + bytesOfTable(table), 0);
  const bytes = Math.max(copied, rows);
  assertEnoughSpace(facts, databases * bytes);
  const { tables: differing, savesNothing } = swap?.difference ?? {};
  const isUsed = !request.keepBase && request.keepUsedBase && (differing || savesNothing);
  const keepsUsedBase = isUsed && (facts.freeBytes === null || facts.freeBytes >= (databases + 1) * bytes);
  return {
    destination: facts.destination,
    ...chosen,
    restoredBy: await restorerFor({ ...choosing, difference: swap?.difference }, admits),
    schemas,
    tables,
    empty,
    warnings: [
      ...warnings,
      ...versionWarnings(facts, request),
      ...sessionWarnings(facts, chosen.strategy),
      ...remoteWarnings(details, { schemas, created: request.remoteTables ?? false }),
      ...replicationWarnings(details.replication),
      ...(swap?.warnings ?? []),
    ],
    ...(swap && { copies: swap.copies }),
    ...(swap?.difference && { difference: swap.difference }),
    ...(keepsUsedBase && { keepsUsedBase }),
  };
}

export async function chooseRestorer(context: EngineContext, request: RestorerRequest): Promise<RestoringUser> {
  const facts = await inspectDestination(context, request.url);
  const choosing = { ...request, facts, strategy: facts.maySwap ? ('swap' as const) : ('in_place' as const) };
  return await restorerFor(choosing, whyLoadingRole(choosing) === null ? admitsNewRoles(context, request.url) : null);
}

interface RestorerFacts extends RestorerRequest, Pick<RestorePlan, 'strategy'> {
  facts: InspectedDestination;
  difference?: DifferencePlan | null | undefined;
}

async function restorerFor(choosing: RestorerFacts, admits: Promise<boolean> | null): Promise<RestoringUser> {
  const { superuser, user } = choosing.facts;
  const why = whyLoadingRole(choosing);
  const reason = why ?? ((await admits) ? null : 'the server lets no new role in by password');
  return reason === null ? { user: 'temporary', superuser } : { user: 'loading', name: user, reason };
}

/** Reasons that need no further look at the server. */
function whyLoadingRole(choosing: RestorerFacts): string | null {
  const { facts, superuserObjects = [] } = choosing;
  if (choosing.strategy === 'in_place') return 'the load is in place';
  if (choosing.allowSuperuser) return '--allow-superuser was given';
  if (!facts.mayCreateRoles) return 'the role may not create roles';
  if (choosing.difference?.tables && !facts.superuser)
    return 'only a superuser may give the objects of the base copy to another role';
  if (!choosing.builtHere || !facts.superuser) return null;
  if (choosing.remoteTables) return '--remote-tables was given, and the snapshot was built on this machine';
  const [first, ...more] = superuserObjects;
  if (first === undefined) return null;
  const others =
    more.length === 0 ? '' : ` and ${more.length === 1 ? 'another' : 'other'} object${more.length === 1 ? '' : 's'}`;
  return `the snapshot was built on this machine, and only a superuser may create ${first}${others}`;
}

/** Plans the swap: warns of what would be lost. Rejects when something would stop the swap in the end. */
async function planSwap(
  context: EngineContext,
  request: RestoreRequest,
  { opened, ...contents }: Pick<BaseComparison, 'details' | 'schemas' | 'tables'> & { opened: OpenedDestination },
): Promise<{ warnings: WarningEvent[]; copies: BaseCopies; difference: DifferencePlan | null }> {
  const { facts, session: server } = opened;
  const { url, keepBase } = request;
  const destination = url.database ?? '';
  const warnings = await checkSwap(server, { destination, undo: true, base: keepBase !== undefined });
  const copies = await findBaseCopies(server, destination);
  const { base } = copies;
  const difference = base && (await planDifference(server, { request, destination, base, ...contents }));
  if (!facts.destination.exists || facts.superuser) return { warnings, copies, difference };
  await using inside = await connect(context, url).catch(noConnection);
  return { warnings: [...warnings, ...(await checkRights({ server, inside, destination }))], copies, difference };
}

/** A destination that takes no connections can still be renamed. */
function noConnection(thrown: unknown): null {
  if (thrown instanceof UserError && thrown.code === 'denied') return null;
  throw thrown;
}

function assertNothingMissing(facts: InspectedDestination, needed: { extensions: string[]; roles: string[] }): void {
  const extensions = needed.extensions.filter((name) => !facts.extensions.includes(name));
  const roles = needed.roles.filter((name) => !facts.roles.includes(name));
  const server = facts.destination.host;
  if (extensions.length > 0) {
    throw new UserError(
      'extension_missing',
      `The server ${server} lacks extensions that the snapshot needs: ${extensions.join(', ')}`,
      {
        hint: 'Install their packages on the server (on Debian: postgresql-contrib, or postgresql-NN-NAME), then load again.',
      },
    );
  }
  if (roles.length > 0) {
    throw new UserError(
      'role_missing',
      `The server ${server} lacks roles that the snapshot's policies name: ${roles.join(', ')}`,
      { hint: `Create them first: ${roles.map((role) => `CREATE ROLE ${quoteName(role)};`).join(' ')}` },
    );
  }
}

/** A role that is not there, or that nothing can be given to, is found before anything is restored. */
async function assertUsableRole(session: PostgresSession, url: DatabaseUrl, role: string): Promise<void> {
  const [found] = await session.query<{ allowed: boolean }>(`
    SELECT pg_has_role(oid, 'MEMBER') AND
      CASE WHEN current_setting('server_version_num')::int >= 160000 THEN pg_has_role(oid, 'SET') ELSE true END AS allowed
    FROM pg_roles WHERE rolname = ${quoteText(role)}`);
  if (found?.allowed) return;
  throw new UserError(
    found ? 'role_denied' : 'role_missing',
    found ? `The user may not give objects to the role "${role}"` : `The server has no role "${role}"`,
    {
      hint: found
        ? `Make the user a member of it: GRANT ${quoteName(role)} TO ${quoteName(url.user ?? '')}`
        : `Create it, or correct snapshot.role: CREATE ROLE ${quoteName(role)}`,
    },
  );
}

function chooseStrategy(
  facts: InspectedDestination,
  { inPlace, url }: RestoreRequest,
): Pick<RestorePlan, 'strategy' | 'strategyReason'> {
  const { exists } = facts.destination;
  if (!facts.maySwap && !exists) {
    throw new UserError('may_not_create', `The database "${url.database}" does not exist, and ${facts.whyNot}`, {
      hint: `Have an administrator create it, or run: ALTER ROLE ${quoteName(url.user ?? 'NAME')} CREATEDB`,
    });
  }
  if (inPlace && exists) return { strategy: 'in_place', strategyReason: '--in-place was given' };
  if (!facts.maySwap) return { strategy: 'in_place', strategyReason: facts.whyNot };
  return { strategy: 'swap', strategyReason: 'the destination is unchanged until the shadow database is complete' };
}

function keepGoingNeedsSecond(why: string): UserError {
  return new UserError(
    'keep_going_refused',
    '--keep-going needs a second database, and this load is one transaction in the destination',
    { details: [why], hint: 'Load without --in-place, as a role that may create databases.' },
  );
}

function versionWarnings(facts: InspectedDestination, { manifest }: RestoreRequest): WarningEvent[] {
  const { server_version } = facts.destination;
  if (majorOf(server_version) >= majorOf(manifest.server_version)) return [];
  const message = `The snapshot is of PostgreSQL ${manifest.server_version}, the destination is ${server_version}: newer features may fail to restore`;
  return [{ event: 'warning', code: 'server_older', message }];
}

export function sessionWarnings(
  { destination }: InspectedDestination,
  strategy: RestorePlan['strategy'],
): WarningEvent[] {
  if (destination.connections === 0) return [];
  const sessions = destination.connections === 1 ? '1 session is' : `${destination.connections} sessions are`;
  const fate = strategy === 'swap' ? 'they are ended when the databases are swapped' : 'the load waits for their locks';
  const message = `${sessions} open on ${destination.database}: ${fate}`;
  return [{ event: 'warning', code: 'sessions_open', message }];
}

function noSchema({ manifest }: RestoreRequest): UserError {
  return new UserError('schema_not_found', `Snapshot ${manifest.id} contains none of the chosen schemas`, {
    hint: `It holds: ${manifest.schemas.join(', ')}. Choose with the target's schema_config.`,
  });
}
