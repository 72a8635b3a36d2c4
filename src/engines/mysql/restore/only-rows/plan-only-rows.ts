import { bytesOfTable, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { RestorePlan, RestoreRequest } from '../../../facets/restore.ts';
import { assertEnoughSpace } from '../../../shared/disk-space.ts';
import { divideTables } from '../../../shared/rows/divide-tables.ts';
import { notByKey } from '../../../shared/rows/only-rows.ts';
import { readNameCase } from '../../catalog/name-case.ts';
import { readTables } from '../../catalog/tables.ts';
import { connectToServer } from '../../connection/connect.ts';
import { asTable, quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { type Details, detailsOf } from '../../details.ts';
import { inspectDestination } from '../inspect-destination.ts';
import { assertSameFlavour, sessionWarnings } from '../preflight.ts';
import { dataOf } from '../rows/load-tables.ts';
import { checkPacketLimit } from '../rows/packet-limit.ts';
import { notReplaceable, readTriggers } from './triggers.ts';

/** Sentence for tables with triggers. */
const LOCKED = '; they are locked meanwhile, and their triggers are dropped and created again';

/** Plans to replace the rows of some tables of the present destination. */
export async function planOnlyRows(context: EngineContext, request: RestoreRequest): Promise<RestorePlan> {
  const { url, manifest } = request;
  const details = detailsOf(manifest);
  if (request.keys) throw notByKey('Rows by key return on PostgreSQL only', 'Leave --rows out: all rows return.');
  const inspected = await inspectDestination(context, url);
  const { destination, server, packet } = inspected;
  assertSameFlavour(details, inspected);
  if (details.program) throw notReplaceable('The rows were written by mysqldump, as statements', []);
  const { tables } = divideTables(manifest.tables, request);
  const names = tables.map((table) => dataOf({ details }, table).table);
  await using session = await connectToServer(context, url);
  const triggers = await assertReplaceable(session, { url, names });
  const bytes = tables.reduce((sum, table) => sum + bytesOfTable(table), 0);
  assertEnoughSpace(inspected, bytes);
  return {
    destination,
    strategy: 'rows',
    strategyReason: `one transaction replaces the rows of these tables, and nothing else${triggers.length > 0 ? LOCKED : ''}`,
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

/** Rejects tables whose rows a transaction cannot replace; resolves with the triggers of the others. */
export async function assertReplaceable(session: MysqlSession, { url, names }: { url: DatabaseUrl; names: string[] }) {
  const { fold } = await readNameCase(session, names);
  const wanted = new Set(names.map(fold));
  const tables = (await readTables(session, url.database ?? '')).filter(({ name }) => wanted.has(fold(name)));
  const without = tables.filter(({ engine, isVersioned }) => engine !== 'InnoDB' || isVersioned);
  if (without.length > 0) {
    throw notReplaceable(
      'A transaction cannot replace the rows of tables that are not InnoDB, or have a history',
      without.map(({ name, engine }) => `${name} (${engine})`),
    );
  }
  return readTriggers(session, { url, names });
}

async function countPresent(
  session: MysqlSession,
  { database, tables, details }: { database: string; tables: ManifestTable[]; details: Details },
): Promise<{ table: string; rows: number }[]> {
  const present: { table: string; rows: number }[] = [];
  for (const table of tables) {
    const path = quotePath(database, dataOf({ details }, table).table);
    const [row] = await session.query<{ amount: number | string }>(`SELECT COUNT(*) AS amount FROM ${asTable(path)}`);
    present.push({ table: table.name, rows: Number(row?.amount ?? 0) });
  }
  return present;
}
