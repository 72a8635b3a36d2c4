import * as v from 'valibot';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { findAsBefore, provableStates, unwrittenOf, unwrittenSchema } from '../branches/in-place/unwritten-tables.ts';
import { type ListedTable, readTableList } from '../catalog/tables.ts';
import { withServer } from '../connection/connect.ts';
import { asTable, quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { UNDO_COPY } from './undo-copy.ts';

const markSchema = v.object({
  unwritten: unwrittenSchema,
  /** The rows of sequences, and of other tables that have none: the server knows no time of a write to these. */
  few: v.record(v.string(), v.string()),
});

/** Returns what tells later whether tables were written to; nothing of those just written to, for which there is no evidence. */
export async function readChangeMark(context: Pick<EngineContext, 'signal'>, url: DatabaseUrl): Promise<unknown> {
  const database = url.database ?? '';
  return withServer(context, url, async (server): Promise<v.InferOutput<typeof markSchema>> => {
    const states = await provableStates(server, database, { unlocked: true });
    const few: [string, string][] = [];
    for (const table of await tablesIn(server, database)) {
      if (isSequence(table)) states.delete(table.name);
      const rows = states.has(table.name) ? null : await fewRows(server, database, table);
      if (rows !== null) few.push([table.name, rows]);
    }
    return { unwritten: unwrittenOf('', states), few: Object.fromEntries(few) };
  });
}

/** Reports whether the tables that are in `database` by now are proved to be as when the mark was read. */
export async function isAsMarked(server: MysqlSession, database: string, mark: unknown): Promise<boolean> {
  const before = v.safeParse(markSchema, mark);
  if (!before.success) return false;
  const { unwritten, few } = before.output;
  const asBefore = await findAsBefore(server, database, unwritten.tables);
  for (const table of await tablesIn(server, database)) {
    if (asBefore.has(table.name)) continue;
    const rows = few[table.name];
    if (rows === undefined || rows !== (await fewRows(server, database, table))) return false;
  }
  return true;
}

async function tablesIn(server: MysqlSession, database: string): Promise<ListedTable[]> {
  return (await readTableList(server, database)).filter(({ name, type }) => type !== 'VIEW' && name !== UNDO_COPY);
}

/** A value that a sequence gives changes no update time. */
function isSequence({ type }: ListedTable): boolean {
  return type === 'SEQUENCE';
}

/** `null` of a table with rows. */
async function fewRows(server: MysqlSession, database: string, table: ListedTable): Promise<string | null> {
  const path = quotePath(database, table.name);
  if (isSequence(table)) return JSON.stringify(await server.query(`SELECT * FROM ${asTable(path)}`));
  const rows = await server.query(`SELECT 1 FROM ${asTable(path)} LIMIT 1`);
  return rows.length === 0 ? '' : null;
}
