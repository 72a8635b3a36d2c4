import { bytesOfTable, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import { UserError } from '../../../../runtime/errors.ts';
import { boundedList } from '../../../../text/bounded-list.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { RestorePlan, RestoreRequest } from '../../../facets/restore.ts';
import { divideTables } from '../../../shared/divide-tables.ts';
import { assertEnoughSpace } from '../../../shared/server/free-space.ts';
import { listCode } from '../../catalog/definitions/read-definitions.ts';
import { readNameCase } from '../../catalog/name-case.ts';
import { readRights } from '../../catalog/rights/rights.ts';
import { readTables } from '../../catalog/tables.ts';
import { connectToServer } from '../../connection/connect.ts';
import { quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { type Details, detailsOf } from '../../details.ts';
import { assertSameFlavour, inspectDestination, sessionWarnings } from '../preflight.ts';
import { dataOf } from '../rows/load-tables.ts';
import { checkPacketLimit } from '../rows/packet-limit.ts';

/** Plans to replace the rows of some tables of the present destination. */
export async function planOnlyRows(context: EngineContext, request: RestoreRequest): Promise<RestorePlan> {
  const { url, manifest } = request;
  const details = detailsOf(manifest);
  const inspected = await inspectDestination(context, url);
  const { destination, server, packet } = inspected;
  assertSameFlavour(details, inspected);
  if (details.program) throw notReplaceable('The rows were written by mysqldump, as statements', []);
  const { tables } = divideTables(manifest.tables, request);
  const names = tables.map((table) => dataOf({ details }, table).table);
  await using session = await connectToServer(context, url);
  await assertReplaceable(session, { url, names });
  const bytes = tables.reduce((sum, table) => sum + bytesOfTable(table), 0);
  assertEnoughSpace(inspected, bytes);
  return {
    destination,
    strategy: 'rows',
    strategyReason: 'one transaction replaces the rows of these tables, and nothing else',
    restoredBy: { user: 'loading', name: url.user ?? '', reason: 'no code of the snapshot runs' },
    schemas: manifest.schemas,
    tables,
    empty: [],
    warnings: [
      ...checkPacketLimit({ ...packet, details, tables, boundsJson: server.flavour === 'mysql' }),
      ...sessionWarnings(destination),
    ],
    onlyRows: {
      present: await countPresent(session, { database: destination.database, tables, details }),
      materializedViews: [],
      keeps: true,
      allowsCode: false,
    },
  };
}

/** A transaction replaces the rows of InnoDB only, and no server keeps triggers from firing in it. */
export async function assertReplaceable(
  session: MysqlSession,
  { url, names }: { url: DatabaseUrl; names: string[] },
): Promise<void> {
  const database = url.database ?? '';
  const { fold } = await readNameCase(session, names);
  const wanted = new Set(names.map(fold));
  const tables = (await readTables(session, database)).filter(({ name }) => wanted.has(fold(name)));
  const without = tables.filter(({ engine, isVersioned }) => engine !== 'InnoDB' || isVersioned);
  if (without.length > 0) {
    throw notReplaceable(
      'A transaction cannot replace the rows of tables that are not InnoDB, or have a history',
      without.map(({ name, engine }) => `${name} (${engine})`),
    );
  }
  if (!(await readRights(session)).onDatabase(database, 'TRIGGER')) {
    throw notReplaceable(`Without the right TRIGGER on ${database} it is unknown whether triggers would fire`, []);
  }
  const triggers = (await listCode(session, database)).filter(
    ({ kind, table_ }) => kind === 'TRIGGER' && table_ != null && wanted.has(fold(table_)),
  );
  if (triggers.length === 0) return;
  throw notReplaceable(
    'Triggers would fire: no transaction can turn them off',
    triggers.map(({ name, table_ }) => `${name} on ${table_}`),
  );
}

/** Most names in a message. */
const LISTED = 20;

function notReplaceable(message: string, names: string[]): UserError {
  return new UserError('rows_not_replaceable', message, {
    details: names.length > 0 ? [boundedList(names, LISTED)] : [],
    hint: 'Leave these tables out, or load without --only.',
  });
}

async function countPresent(
  session: MysqlSession,
  { database, tables, details }: { database: string; tables: ManifestTable[]; details: Details },
): Promise<{ table: string; rows: number }[]> {
  const present: { table: string; rows: number }[] = [];
  for (const table of tables) {
    const path = quotePath(database, dataOf({ details }, table).table);
    const [row] = await session.query<{ amount: number | string }>(`SELECT COUNT(*) AS amount FROM ${path}`);
    present.push({ table: table.name, rows: Number(row?.amount ?? 0) });
  }
  return present;
}
