import { startStep } from '../../../../runtime/events.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { ReplaceResult } from '../../../facets/restore.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { tablesChanged } from '../../../shared/rows/only-rows.ts';
import { connect } from '../../connection/connect.ts';
import { quoteText } from '../../connection/quote.ts';
import { PSQL_FLAGS } from '../../connection/session.ts';
import { type ClientTools, findClientTools, toolsForServer } from '../../connection/tools.ts';
import { connectionEnvironment, encodingSettings, type SessionSettings, withDatabase } from '../../connection/url.ts';
import type { UndoRows } from '../../swap/mark.ts';
import { failureWords } from '../restore-errors.ts';
import { keepAndReplace } from './keep-and-replace.ts';
import { keeperTable, ROW_SETTINGS } from './row-keeper.ts';
import { pathOf } from './statements.ts';

export interface RowsUndo {
  url: DatabaseUrl;
  directory: string;
  /** The database with the previous rows. */
  undoCopy: string;
  replacedAt: string;
  rows: UndoRows;
}

/** Puts the rows back that the last load of single tables has replaced; the present ones become the undo copy. */
export async function undoRows(
  context: EngineContext,
  { url, directory, undoCopy, replacedAt, rows: { tables, sequences, allows_code } }: RowsUndo,
): Promise<ReplaceResult> {
  const amount = formatNumberOf(tables.length, 'table');
  const restored = startStep(context.report, 'swap', `Restore the previous rows of ${amount}`);
  const { version, encoding } = await assertSameColumns(context, url, tables);
  const tools = toolsForServer(await findClientTools(context), version);
  const settings = encodingSettings({ encoding });
  const from = withDatabase(url, undoCopy);
  const kept = await countUndoRows(context, { url: from, amount: tables.length });
  const replaced = tables.map((table, index) => ({ ...table, rows: kept[index] ?? 0 }));
  const result = await keepAndReplace(context, {
    ...{
      url,
      tools,
      directory,
      settings,
      sequences,
      allowsCode: allows_code === true,
      tables: replaced,
      undo: true,
      maySwap: true,
      from: replacedAt,
    },
    counts: replaced.map((table) => ({
      name: table.name,
      count: `SELECT count(*) FROM ONLY ${pathOf(table)}`,
      rows: table.rows,
    })),
    feed: (index, write) => readUndoTable(context, { url: from, tools, settings, index, write }),
  });
  restored(`Restored the previous rows of ${amount}`);
  return result;
}

async function assertSameColumns(context: EngineContext, url: DatabaseUrl, tables: UndoRows['tables']) {
  await using session = await connect(context, url);
  const found = await session.query<{ name: string; columns: string[] | null }>(`
    SELECT j.name, (SELECT json_agg(a.attname ORDER BY a.attnum) FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns
    FROM json_to_recordset(${quoteText(JSON.stringify(tables))}) AS j (name text, schema text, "table" text)
      LEFT JOIN pg_namespace n ON n.nspname = j.schema LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = j."table"`);
  const present = new Map(found.map(({ name, columns }) => [name, columns ?? []]));
  const differing = tables.filter(({ name, columns }) => JSON.stringify(present.get(name)) !== JSON.stringify(columns));
  if (differing.length > 0) throw tablesChanged(differing);
  const [server] = await session.query<{ version: string; encoding: string }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding`,
  );
  return { version: server?.version ?? '', encoding: server?.encoding ?? '' };
}

async function countUndoRows(context: EngineContext, { url, amount }: { url: DatabaseUrl; amount: number }) {
  await using session = await connect(context, url);
  const counts: number[] = [];
  for (let index = 0; index < amount; index += 1) {
    const [row] = await session.query<{ rows: number }>(`SELECT count(*) AS rows FROM public.${keeperTable(index)}`);
    counts.push(row?.rows ?? 0);
  }
  return counts;
}

interface UndoTable {
  url: DatabaseUrl;
  tools: ClientTools;
  settings: SessionSettings;
  index: number;
  write: (rows: Uint8Array) => Promise<void>;
}

async function readUndoTable({ runner, signal }: EngineContext, { url, tools, settings, index, write }: UndoTable) {
  const connection = connectionEnvironment(url, { ...ROW_SETTINGS, statement_timeout: '0', ...settings });
  const command = `--command=COPY public.${keeperTable(index)} TO STDOUT`;
  const args = [...PSQL_FLAGS, '--set=ON_ERROR_STOP=1', command, ...connection.args];
  const child = runner.start({ file: tools.psql, ...connection, args }, { signal });
  child.stdin.end();
  try {
    for await (const piece of child.stdout) await write(piece);
  } catch (error) {
    child.kill();
    throw error;
  }
  const ended = await child.ended;
  if (ended.exitCode !== 0) throw restoreFailed('The previous rows could not be read', failureWords('psql', ended));
}
