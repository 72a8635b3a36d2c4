import { UserError } from '../../../../runtime/errors.ts';
import { startStep } from '../../../../runtime/events.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import { splitName } from '../../../../text/table-names.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { ReplaceResult } from '../../../facets/restore.ts';
import { tablesChanged } from '../../../shared/rows/only-rows.ts';
import { nonGeneratedColumns, readTables, tablesOf } from '../../catalog/tables.ts';
import { connectToServer } from '../../connection/connect.ts';
import { asTable, quoteName, quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { readAuxiliaryNames } from '../../server/server.ts';
import type { RowsOf, UndoTable } from '../../swap/undo-copy.ts';
import { assertReplaceable } from './plan-only-rows.ts';
import { replaceRows } from './replace-rows.ts';

/** Puts the rows back that the last load of single tables has replaced; the present ones become the undo copy. */
export async function undoRows(
  context: EngineContext,
  { url, tables, rowsOf }: { url: DatabaseUrl; tables: UndoTable[]; rowsOf: RowsOf | null | undefined },
): Promise<ReplaceResult> {
  const amount = formatNumberOf(tables.length, 'table');
  const restored = startStep(context.report, 'swap', `Restore the previous rows of ${amount}`);
  const undoCopy = await checked(context, { url, tables });
  const result = await replaceRows(context, {
    ...{ url, undo: true, rowsOf, schema: splitName(tables[0]?.name ?? '').schema },
    tables: tables.map((table) => ({
      ...table,
      async fill(session) {
        const list = table.columns.map(quoteName).join(', ');
        const [into, from] = [quoteName(table.table), quotePath(undoCopy, table.table)];
        await session.execute(`INSERT INTO ${into} (${list}) SELECT ${list} FROM ${asTable(from)}`);
      },
    })),
  });
  restored(`Restored the previous rows of ${amount}`);
  return result;
}

/** Resolves with the name of the undo copy. */
async function checked(context: EngineContext, { url, tables }: { url: DatabaseUrl; tables: UndoTable[] }) {
  const database = url.database ?? '';
  await using session = await connectToServer(context, url);
  const present = await readTables(session, database);
  const differing = tables.filter(({ table, columns }) => {
    const found = present.find(({ name }) => name.toLowerCase() === table.toLowerCase());
    return JSON.stringify(found && nonGeneratedColumns(found).map(({ name }) => name)) !== JSON.stringify(columns);
  });
  if (differing.length > 0) throw tablesChanged(differing);
  await assertReplaceable(session, { url, names: tables.map(({ table }) => table) });
  const { undo } = await readAuxiliaryNames(session, database);
  await assertKept(session, undo, tables);
  return undo;
}

/** A view in place of a table would run code with the rights of this user. */
async function assertKept(session: MysqlSession, undo: string, tables: UndoTable[]): Promise<void> {
  const kept = new Set((await tablesOf(session, undo)).map((name) => name.toLowerCase()));
  const gone = tables.filter(({ table }) => !kept.has(table.toLowerCase()));
  if (gone.length === 0) return;
  throw new UserError('nothing_to_undo', `${undo} does not have the previous rows any more`, {
    details: gone.slice(0, 20).map(({ name }) => name),
    hint: 'The destination is unchanged. Somebody else has changed the undo copy.',
  });
}
