import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessResult, RunningProcess } from '../../../../process/runner.ts';
import { UserError } from '../../../../runtime/errors.ts';
import { boundedLines } from '../../../../text/bounded-list.ts';
import { tableName } from '../../../../text/table-names.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { danglingRows, tablesLocked } from '../../../shared/rows/only-rows.ts';
import { quoteText } from '../../connection/quote.ts';
import type { ClientTools } from '../../connection/tools.ts';
import { connectionEnvironment, type SessionSettings } from '../../connection/url.ts';
import { END_OF_COPY } from '../../dump/archive.ts';
import { countLines } from '../../subset/pipe.ts';
import { splitAtMark } from '../../subset/split-at-mark.ts';
import { failureWords } from '../restore-errors.ts';
import { COPY_FLAGS, copyCommands } from '../rows/copy-commands.ts';
import { write } from '../rows/feed-tables.ts';
import type { CountedRows } from '../rows/rows-by-root.ts';
import { createRowGuard, type RowGuard } from '../rows/stored-rows.ts';
import {
  assertCounts,
  assertKept,
  KEPT,
  type KeeperCounts,
  type KeeperRun,
  LIMITS,
  ROW_SETTINGS,
  type RowKeeper,
  startKeeper,
} from './row-keeper.ts';
import {
  columnList,
  deleteScript,
  keepScript,
  lockScript,
  pathOf,
  type SequenceValue,
  sequencesScript,
  type TableToReplace,
  verifyScript,
} from './statements.ts';

export interface RowReplacement {
  url: DatabaseUrl;
  tools: ClientTools;
  settings: SessionSettings;
  /** For files of psql. */
  directory: string;
  /** Code of other roles may run with the rights of a superuser. */
  allowsCode: boolean;
  tables: TableToReplace[];
  counts: Omit<CountedRows, 'words'>[];
  sequences: SequenceValue[];
  /** Writes the rows of a table in the format of COPY. */
  feed: (index: number, write: (rows: Uint8Array) => Promise<void>) => Promise<void>;
  keeper: RowKeeper | null;
}

/**
 * One transaction of one psql: it locks the tables, gives out their rows, which another psql writes into the keeper,
 * deletes them, reads the new ones from its input and verifies all. Until the keeper is complete, the last COPY has no
 * end, so that nothing can be committed before.
 */
export async function replaceTables(context: EngineContext, replacement: RowReplacement): Promise<void> {
  const { tools, tables, keeper } = replacement;
  const { runner, signal } = context;
  const [mark, word] = [secret(), secret()];
  const commands = copyCommands(
    tables.map((table) => `COPY ${pathOf(table.root ?? table)}${columnList(table.columns)} FROM STDIN`),
    tools,
  );
  const scripts = await scriptsOf(replacement, { mark, word });
  const connection = connectionEnvironment(replacement.url, { ...ROW_SETTINGS, ...LIMITS, ...replacement.settings });
  const keeping = keeper && (await startKeeper(context, replacement, keeper));
  const child = runner.start(
    {
      file: tools.psql,
      ...connection,
      args: [...COPY_FLAGS, VERBOSE, ...scripts.before, ...commands.args, ...scripts.after, ...connection.args],
      mounts: [...connection.mounts, { path: replacement.directory, writable: true }],
    },
    { signal },
  );
  const stop = (): void => {
    child.kill();
    keeping?.child.kill();
  };
  const deleted = Promise.withResolvers<void>();
  deleted.promise.catch(() => {});
  const receiving = receive({ child, keeping, tables, mark, onDeleted: deleted.resolve });
  receiving.then(
    () => deleted.reject(new Error('psql ended before its rows')),
    (error) => {
      deleted.reject(error);
      stop();
    },
  );
  const feeding = feedAll(child, { replacement, commands, ready: deleted.promise }).catch((error) => {
    stop();
    throw error;
  });
  const [received, fed, ended] = await Promise.allSettled([receiving, feeding, child.ended]);
  const kept = await keeping?.child.ended.catch(() => undefined);
  signal.throwIfAborted();
  const failures = [received, fed].flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  const refusal = failures.find((error) => error instanceof UserError);
  if (refusal) throw refusal;
  if (kept?.exitCode) throw restoreFailed(KEPT, failureWords('psql', kept).slice(0, 20));
  if (ended.status === 'rejected') throw ended.reason;
  if (ended.value.exitCode !== 0) throw failureOf(ended.value, { word, tables });
  if (failures.length > 0) throw failures[0];
  const text = received.status === 'fulfilled' ? received.value : '';
  if (!text.trimEnd().endsWith(word)) throw restoreFailed(NOT_REPLACED, ['psql ended without an answer to COMMIT']);
}

/** Errors begin with their SQLSTATE. */
const VERBOSE = '--set=VERBOSITY=verbose';

function secret(): string {
  return randomBytes(16).toString('hex');
}

/** The mark is written by COPY, since psql passes on the output of nothing else at once. */
async function scriptsOf(
  { directory, tables, allowsCode, counts, sequences, keeper }: RowReplacement,
  { mark, word }: { mark: string; word: string },
): Promise<{ before: string[]; after: string[] }> {
  const script = async (name: string, text: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, text, { mode: 0o600 });
    return `--file=${path}`;
  };
  const said = `COPY (SELECT ${quoteText(mark)}) TO STDOUT;\n`;
  const given = tables.map((table) => `COPY ${pathOf(table)}${columnList(table.columns)} TO STDOUT;\n${said}`);
  return {
    before: [
      '--command=BEGIN ISOLATION LEVEL READ COMMITTED',
      await script('lock.sql', lockScript(tables, { allowsCode })),
      await script('keep.sql', keeper ? `${keepScript(tables, keeper)}${said}${given.join('')}` : said),
      await script('delete.sql', `${deleteScript(tables)}${said}`),
    ],
    after: [
      await script('sequences.sql', sequencesScript(tables, sequences)),
      await script('verify.sql', verifyScript(counts, word)),
      ...(keeper ? [await script('renames.sql', keeper.renames.map((one) => `${one};\n`).join(''))] : []),
      '--command=COMMIT',
      `--command=SELECT ${quoteText(word)}`,
    ],
  };
}

interface ReceiveOptions {
  child: RunningProcess;
  keeping: KeeperRun | null;
  tables: TableToReplace[];
  mark: string;
  onDeleted: () => void;
}

/** Passes the previous rows on to the keeper; resolves with what psql writes after them. */
async function receive({ child, keeping, tables, mark, onDeleted }: ReceiveOptions): Promise<string> {
  const kept = keeping ? tables : [];
  /** Parts between marks: before the rows, rows of each table, the deletion. */
  let part = -1;
  let text = '';
  let rows = 0;
  const counts: number[] = [];
  let guard: RowGuard | null = null;
  for await (const piece of splitAtMark(child.stdout, Buffer.from(`${mark}\n`))) {
    const isRows = part >= 0 && part < kept.length;
    if (piece && !isRows) text += piece.toString('utf8');
    if (piece && isRows && keeping) {
      guard?.check(piece);
      rows += countLines(piece);
      await write(keeping.child.stdin, piece);
    }
    if (piece) continue;
    if (isRows && keeping) {
      guard?.end();
      counts.push(rows);
      await write(keeping.child.stdin, END_OF_COPY);
    }
    part += 1;
    rows = 0;
    guard = createRowGuard(kept[part]?.name ?? '');
    if (part === kept.length && keeping) await assertKept(keeping, { tables, counts });
    if (part <= kept.length) text = '';
    else {
      if (!tables.some(({ only }) => only)) assertDeleted(text, { tables: kept, counts });
      onDeleted();
    }
  }
  return text;
}

function assertDeleted(text: string, kept: KeeperCounts): void {
  const found = [...text.matchAll(/^DELETE (\d+)$/gm)].map((match) => Number(match[1]));
  assertCounts(NOT_REPLACED, { ...kept, found });
}

interface FeedRequest {
  replacement: RowReplacement;
  commands: ReturnType<typeof copyCommands>;
  /** The previous rows are kept and deleted. */
  ready: Promise<void>;
}

async function feedAll(child: RunningProcess, { replacement, commands, ready }: FeedRequest): Promise<void> {
  child.stdin.on('error', () => {});
  await ready;
  for (const [index, { name }] of replacement.tables.entries()) {
    if (commands.before) await write(child.stdin, commands.before(index));
    const guard = createRowGuard(name);
    await replacement.feed(index, async (rows) => {
      guard.check(rows);
      await write(child.stdin, rows);
    });
    guard.end();
    await write(child.stdin, END_OF_COPY);
  }
  child.stdin.end(commands.after);
}

const NOT_REPLACED = 'The rows could not be replaced';

/** `lock_not_available` and `deadlock_detected`. */
const LOCKED = /ERROR: {2}(55P03|40P01): /;

function failureOf(ended: ProcessResult, { word, tables }: { word: string; tables: TableToReplace[] }): UserError {
  const [, list] = new RegExp(`${word}(\\[.*\\])$`, 'm').exec(ended.stderr) ?? [];
  if (list !== undefined) {
    const replaced = tables.map(({ name }) => name);
    return danglingRows(parseDangling(list), replaced);
  }
  const words = failureWords('psql', ended).filter((line) => !line.startsWith('LOCATION:'));
  if (!LOCKED.test(ended.stderr)) return restoreFailed(NOT_REPLACED, boundedLines(words, 20));
  return tablesLocked(words);
}

interface DanglingRecord {
  name: string;
  schema: string;
  table: string;
  columns: string[];
  other_schema: string;
  other_table: string;
  rows: number;
  keys: string[];
}

/** The statements of this program write the list, after a secret word. */
function parseDangling(list: string) {
  return (JSON.parse(list) as DanglingRecord[]).map((one) => ({
    key: one.name,
    table: tableName(one.schema, one.table),
    columns: one.columns,
    references: tableName(one.other_schema, one.other_table),
    rows: one.rows,
    keys: one.keys,
  }));
}
