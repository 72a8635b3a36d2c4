import { bytesOfTable, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import { UserError } from '../../../../runtime/errors.ts';
import { boundedList } from '../../../../text/bounded-list.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { RestorePlan, RestoreRequest, RowKeys } from '../../../facets/restore.ts';
import { assertEnoughSpace } from '../../../shared/disk-space.ts';
import { divideTables } from '../../../shared/rows/divide-tables.ts';
import { namePartOf } from '../../catalog/introspect.ts';
import { connect } from '../../connection/connect.ts';
import { quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { type ArchiveDetails, archiveDetails } from '../../dump/archive.ts';
import { checkSwap } from '../../swap/blockers.ts';
import { openForInspection } from '../inspect-destination.ts';
import { sessionWarnings } from '../preflight.ts';
import { dataOf } from '../rows/copy-commands.ts';
import { keyCondition, readRowKeys } from './row-keys.ts';
import { codeOwnersQuery, pathOf } from './statements.ts';

/** Plans to replace the rows of some tables of the present destination. */
export async function planOnlyRows(context: EngineContext, request: RestoreRequest): Promise<RestorePlan> {
  const { url, manifest, allowSuperuser = false } = request;
  const details = archiveDetails(manifest);
  await using opened = await openForInspection(context, url);
  const { facts, session: server } = opened;
  const { tables } = divideTables(manifest.tables, request);
  assertReplaceable(tables, { details, all: manifest.tables });
  const bytes = tables.reduce((sum, table) => sum + bytesOfTable(table), 0);
  assertEnoughSpace(facts, bytes);
  const swap = { destination: url.database ?? '', undo: true };
  const warnings = facts.maySwap ? await checkSwap(server, swap) : [];
  await using session = await connect(context, url);
  const keys = request.keys && (await readRowKeys(session, { tables, details, keys: request.keys }));
  return {
    destination: facts.destination,
    strategy: 'rows',
    strategyReason: 'one transaction replaces the rows of these tables, and nothing else',
    restoredBy: { user: 'loading', name: facts.user, reason: 'no code of the snapshot runs' },
    schemas: [...new Set(tables.map((table) => dataOf(table, details).schema))],
    tables,
    empty: [],
    warnings: [
      ...warnings,
      ...(facts.superuser ? await codeWarnings(session, { tables, details, user: facts.user, allowSuperuser }) : []),
      ...sessionWarnings(facts, 'rows'),
    ],
    onlyRows: {
      ...(keys && { keys }),
      present: await countPresent(session, { tables, details, keys }),
      materializedViews: await readingViews(session, { tables, details }),
      keeps: facts.maySwap,
      allowsCode: allowSuperuser,
    },
  };
}

interface Tables {
  tables: ManifestTable[];
  details: ArchiveDetails;
  keys?: RowKeys | undefined;
}

/** Rows of an extension are its own, and partitions by hash of an enum are loaded through their root together. */
function assertReplaceable(
  tables: ManifestTable[],
  { details, all }: { details: ArchiveDetails; all: ManifestTable[] },
) {
  const names = (some: ManifestTable[]): string =>
    boundedList(
      some.map(({ name }) => name),
      LISTED,
    );
  const ofExtensions = tables.filter((table) => dataOf(table, details).of_extension);
  if (ofExtensions.length > 0) {
    throw new UserError('rows_not_replaceable', `An extension owns rows of ${names(ofExtensions)}`, {
      hint: 'Load the whole snapshot, or leave the table out.',
    });
  }
  const roots = new Set(tables.flatMap((table) => rootOf(table, details) ?? []));
  const others = all.filter((table) => !tables.includes(table) && roots.has(rootOf(table, details) ?? ''));
  if (others.length === 0) return;
  throw new UserError('rows_not_replaceable', 'Rows of partitions by such a hash may be in other partitions here', {
    details: [`other partitions of the same table: ${names(others)}`],
    hint: 'Name the partitioned table instead of its partitions.',
  });
}

const LISTED = 20;

function rootOf(table: ManifestTable, details: ArchiveDetails): string | undefined {
  const { root } = dataOf(table, details);
  return root && pathOf(root);
}

async function countPresent(session: PostgresSession, { tables, details, keys }: Tables) {
  const some = keys ? ` WHERE ${keyCondition(keys)}` : '';
  const present: { table: string; rows: number }[] = [];
  for (const table of tables) {
    const [row] = await session.query<{ rows: number }>(
      `SELECT count(*) AS rows FROM ONLY ${pathOf(dataOf(table, details))}${some}`,
    );
    present.push({ table: table.name, rows: row?.rows ?? 0 });
  }
  return present;
}

/** Throws unless code of other owners may run with the rights of a superuser. */
async function codeWarnings(
  session: PostgresSession,
  { tables, details, user, allowSuperuser }: Tables & { user: string; allowSuperuser: boolean },
) {
  const owners = await session.query<{ name: string }>(codeOwnersQuery(tables.map((table) => dataOf(table, details))));
  if (owners.length === 0) return [];
  const names = boundedList(
    owners.map(({ name }) => name),
    LISTED,
  );
  const message = `Code of ${names} can run with the rights of superuser "${user}": functions in checks, domains, generated columns and indexes`;
  if (allowSuperuser) return [{ event: 'warning' as const, code: 'destination_code_as_superuser', message }];
  throw new UserError('rows_not_replaceable', message, {
    hint: 'Load with the owner of the tables in the URL, or with --allow-superuser if you trust these roles.',
  });
}

/** Materialized views over the tables, at any distance. */
async function readingViews(session: PostgresSession, { tables, details }: Tables): Promise<string[]> {
  const given = JSON.stringify(tables.map((table) => dataOf(table, details)));
  const rows = await session.query<{ name: string }>(`
    WITH RECURSIVE given AS (
      SELECT c.oid FROM json_to_recordset(${quoteText(given)}) AS j (schema text, "table" text)
        JOIN pg_namespace n ON n.nspname = j.schema JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = j."table"),
    readers AS (
      SELECT oid FROM given
      UNION SELECT x.oid FROM readers r CROSS JOIN LATERAL (
        SELECT i.inhparent AS oid FROM pg_inherits i WHERE i.inhrelid = r.oid
        UNION ALL SELECT w.ev_class FROM pg_depend d JOIN pg_rewrite w ON w.oid = d.objid
        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = r.oid AND d.classid = 'pg_rewrite'::regclass) x)
    SELECT ${namePartOf('n.nspname')} || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'm' AND c.oid IN (SELECT oid FROM readers) ORDER BY 1`);
  return rows.map(({ name }) => name);
}
