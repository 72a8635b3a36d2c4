import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningProcess } from '../../../../process/runner.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import type { ClientTools } from '../../connection/tools.ts';
import { connectionEnvironment, type SessionSettings, withDatabase } from '../../connection/url.ts';
import { failureWords } from '../restore-errors.ts';
import { COPY_FLAGS, COPY_SETTINGS, copyCommands } from '../rows/copy-commands.ts';
import { copyCounts, rowsDiffer, textOf } from '../rows/feed-tables.ts';
import type { TableToReplace } from './statements.ts';

/** A database that keeps the previous rows, as text, and becomes the undo copy with the commit. */
export interface RowKeeper {
  database: string;
  mark: object;
  /** Statements that give it the name of the undo copy. */
  renames: string[];
}

/** The table of a keeper with the rows of a table. */
export function keeperTable(index: number): string {
  return `rows_${index}`;
}

/** Formats that are exact and the same later, whatever database and role set. */
export const ROW_SETTINGS = {
  ...COPY_SETTINGS,
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  extra_float_digits: '3',
  bytea_output: 'hex',
};

/** The tables wait for each other by locks only. */
export const LIMITS = { statement_timeout: '0', idle_in_transaction_session_timeout: '0' };

interface KeeperRequest {
  url: DatabaseUrl;
  tools: ClientTools;
  settings: SessionSettings;
  /** For files of psql. */
  directory: string;
  tables: TableToReplace[];
}

export interface KeeperRun {
  child: RunningProcess;
  said: () => string;
}

export async function startKeeper(
  { runner, signal }: EngineContext,
  { url, tools, settings, tables, directory }: KeeperRequest,
  { database }: RowKeeper,
): Promise<KeeperRun> {
  const connection = connectionEnvironment(withDatabase(url, database), { ...ROW_SETTINGS, ...LIMITS, ...settings });
  const created = tables.map(({ columns }, index) => {
    const list = columns.map((_, at) => `c${at} text`).join(', ');
    return `CREATE TABLE public.${keeperTable(index)} (${list});\n`;
  });
  const path = join(directory, 'keeper.sql');
  await writeFile(path, created.join(''), { mode: 0o600 });
  const copied = copyCommands(
    tables.map((_, index) => `COPY public.${keeperTable(index)} FROM STDIN`),
    tools,
  );
  const args = [...COPY_FLAGS, '--single-transaction', `--file=${path}`, ...copied.args, ...connection.args];
  const mounts = [...connection.mounts, { path: directory, writable: true as const }];
  const child = runner.start({ file: tools.psql, ...connection, args, mounts }, { signal });
  child.stdin.on('error', () => {});
  return { child, said: textOf(child.stdout) };
}

export async function assertKept({ child, said }: KeeperRun, { tables, counts }: KeeperCounts): Promise<void> {
  child.stdin.end();
  const ended = await child.ended;
  const written = copyCounts(said());
  if (ended.exitCode !== 0) throw restoreFailed(KEPT, failureWords('psql', ended).slice(0, 20));
  assertCounts(KEPT, { tables, counts, found: written });
}

export const KEPT = 'The previous rows could not be kept for tool undo';

export interface KeeperCounts {
  tables: TableToReplace[];
  counts: number[];
}

export function assertCounts(what: string, { tables, counts, found }: KeeperCounts & { found: number[] }): void {
  const lines = tables.flatMap(({ name }, index) => {
    const [loaded = 0, expected = 0] = [found[index], counts[index]];
    return loaded === expected ? [] : [rowsDiffer(name, { loaded, expected })];
  });
  if (lines.length > 0) throw restoreFailed(what, lines);
}
