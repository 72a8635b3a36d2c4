import { redact } from '../../../../process/redact.ts';
import { UserError } from '../../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { DumpRequest } from '../../../facets/dump.ts';
import type { OnBytes } from '../../../shared/bytes-progress.ts';
import { ScriptProblem } from '../../../shared/script/script-problem.ts';
import type { ScriptPart } from '../../../shared/script/split-script.ts';
import { significant } from '../../catalog/definitions/tokens.ts';
import { type Flavour, readInventory } from '../../catalog/introspect.ts';
import { type CatalogTable, readTableList, readTables } from '../../catalog/tables.ts';
import { connectionOf } from '../../connection/client-options.ts';
import { connect } from '../../connection/connect.ts';
import { MARK } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import type { ClientTool } from '../../connection/tools.ts';
import { createSplitter, type InsertedRows, type MysqlStatement } from '../../restore/script/split.ts';
import type { DumpedTable } from '../read-rows.ts';
import { InsertRefused } from './insert-scanner.ts';
import type { ProgramTable } from './table-files.ts';
import { TableFiles } from './table-files.ts';

/** Binary values as hexadecimal literals, one instant, and rows alone. */
const FLAGS = [
  '--default-character-set=utf8mb4',
  '--single-transaction',
  '--quick',
  '--no-create-info',
  '--skip-triggers',
  '--hex-blob',
  '--complete-insert',
  '--skip-comments',
  '--skip-dump-date',
  '--skip-add-locks',
  '--no-tablespaces',
  '--max-allowed-packet=1G',
  '--net-buffer-length=262144',
];

const OWN_FLAGS: Record<Flavour, string[]> = {
  mysql: ['--set-gtid-purged=OFF', '--loose-column-statistics=0'],
  mariadb: [],
};

interface ProgramDump {
  request: DumpRequest;
  session: MysqlSession;
  tool: ClientTool;
  tables: CatalogTable[];
  /** Name of the database in the snapshot. */
  schema: string;
  onBytes: OnBytes;
}

/** Reads the rows of tables by the vendor's program. */
export async function readByProgram(context: EngineContext, dump: ProgramDump): Promise<DumpedTable[]> {
  const { request, session, tool, tables, schema, onBytes } = dump;
  const { url, directory } = request;
  const database = url.database ?? '';
  const columns = new Map(tables.map((table) => [table.name, table.columns.map(({ name }) => name)]));
  const others = (await readTableList(session, database)).filter(({ name }) => !columns.has(name));
  const left = [MARK, ...others.map(({ name }) => name)].map((name) => `--ignore-table=${database}.${name}`);
  const connection = await connectionOf(url, { flavour: tool.flavour, directory });
  const files = new TableFiles(request, onBytes);
  await runProgram(context, {
    ...{ tool, files, connection, display: url.display },
    args: [...connection.args, ...FLAGS, ...OWN_FLAGS[tool.flavour], ...left, '--', database],
  });
  assertNothingMissing(tables, files.written);
  const byName = files.written.toSorted((a, b) => (a.table < b.table ? -1 : 1));
  return Promise.all(
    byName.map(async ({ table, columns: written, rows, longest, bytes, packing }) => {
      const { file, terminated } = await packing;
      const name = `${schema}.${table}`;
      if (!terminated || file.bytes !== bytes) throw cutShort(tool, name);
      const stored = written.length > 0 ? written : (columns.get(table) ?? []);
      const data = { table, columns: stored, texts: [], longest_row: longest };
      return { table: { name, rows, file }, data: { [file.name]: data } };
    }),
  );
}

/** Rejects where the server's settings, or its `init_connect`, hide rows, columns or later versions from the program. */
export async function assertUnlimited(context: EngineContext, url: DatabaseUrl): Promise<void> {
  await using session = await connect(context, url, { settings: [] });
  const [sees] = await session.query<{ everything: number }>(
    "SELECT @@sql_select_limit = 18446744073709551615 /*M!100304 AND @@system_versioning_asof = 'DEFAULT' */ AS everything",
  );
  if (sees?.everything !== 1) {
    throw new UserError('dump_failed', `Sessions on ${url.display} see only some rows, or earlier ones`, {
      hint: 'Nothing was stored. Build without program: true, or set sql_select_limit and system_versioning_asof of the server to DEFAULT.',
    });
  }
}

/** Reads what a program of its own instant must find unchanged. Resolves with the check of it. */
export async function watchDefinitions(
  session: MysqlSession,
  { database, display }: { database: string; display: string },
): Promise<() => Promise<void>> {
  const read = async (): Promise<string> => {
    const columns = (await readTables(session, database)).map((table) => [table.name, table.columns]);
    return JSON.stringify([columns, await readInventory(session, database)]);
  };
  const before = await read();
  return async () => {
    if ((await read()) !== before) throw changed(display);
  };
}

interface ProgramRun {
  tool: ClientTool;
  files: TableFiles;
  connection: Awaited<ReturnType<typeof connectionOf>>;
  args: string[];
  display: string;
}

async function runProgram(
  { runner, report, signal }: EngineContext,
  { tool, files, connection, args, display }: ProgramRun,
): Promise<void> {
  const { env, mounts } = connection;
  const child = runner.start({ file: tool.path, args, env, mounts }, { signal });
  child.stdin.end();
  const problem = await readOutput(child.stdout, files).then(
    (ended) => (ended ? null : new ScriptCutShort()),
    (error) => error,
  );
  await files.close();
  // One that is cut short has ended by itself: its own error follows.
  if (problem && !(problem instanceof ScriptCutShort)) child.kill();
  const { exitCode, stderr } = await child.ended;
  if (problem && !(problem instanceof ScriptCutShort)) throw notUnderstood(tool, problem);
  if (exitCode !== 0) throw programFailed(tool, stderr);
  if (problem) throw cutShort(tool, display);
  // mysqldump may leave objects out with a message and exit code 0.
  for (const line of linesOf(stderr).slice(0, LINES_TOLD)) {
    report({ event: 'warning', code: 'program_warning', message: line });
  }
}

class ScriptCutShort extends Error {
  override readonly name = 'ScriptCutShort';
}

/** Session settings, which a load makes itself. */
const PASSED_OVER = new Set('SET LOCK UNLOCK SELECT DO PREPARE EXECUTE DEALLOCATE USE START COMMIT'.split(' '));

/** The last one that is put back: MariaDB has had the second since 11. */
const LAST_SETTING = /SET (?:SQL_NOTES\s*=\s*@OLD_SQL_NOTES|NOTE_VERBOSITY\s*=\s*@OLD_NOTE_VERBOSITY)/i;

/** Reads the output of mysqldump; rows pass through in blocks. Resolves with whether it has its end. */
async function readOutput(output: AsyncIterable<Uint8Array>, files: TableFiles): Promise<boolean> {
  const splitter = createSplitter({ inserts: true });
  let ended = false;
  const take = async (parts: ScriptPart[]): Promise<void> => {
    for (const part of parts as (MysqlStatement | InsertedRows)[]) {
      if (part.kind === 'rows') await files.write(part.bytes, part.insert);
      else if (!part.isDelimited) throw new ScriptCutShort();
      else {
        const statement = part.bytes.toString('utf8');
        await takeStatement(statement, files);
        ended ||= LAST_SETTING.test(statement);
      }
    }
  };
  for await (const block of output) await take(splitter.push(block));
  await take(lastOf(splitter));
  await files.end();
  return ended;
}

/** `ALTER TABLE … DISABLE KEYS` stands before the rows of each table. */
async function takeStatement(statement: string, files: TableFiles): Promise<void> {
  const tokens = significant(statement).filter(({ kind }) => kind !== 'version' && kind !== 'versionEnd');
  const words = tokens.map(({ kind, value }) => (kind === 'word' ? value : '?')).join(' ');
  if (words === 'ALTER TABLE ? DISABLE KEYS' && tokens[2]?.kind === 'name') await files.begin(tokens[2].value);
  else if (words !== 'ALTER TABLE ? ENABLE KEYS' && !PASSED_OVER.has(tokens[0]?.value ?? '')) {
    throw new StatementUnknown(statement.slice(0, 200));
  }
}

function lastOf(splitter: ReturnType<typeof createSplitter>): ScriptPart[] {
  try {
    return splitter.end();
  } catch (error) {
    throw error instanceof ScriptProblem ? new ScriptCutShort() : error;
  }
}

const LINES_TOLD = 20;

class StatementUnknown extends Error {
  override readonly name = 'StatementUnknown';
}

function assertNothingMissing(tables: CatalogTable[], dumped: ProgramTable[]): void {
  const there = new Set(dumped.map(({ table }) => table));
  const missing = tables.filter(({ name }) => !there.has(name)).map(({ name }) => name);
  if (missing.length === 0) return;
  throw new UserError('dump_failed', 'The dump program left tables out', {
    details: missing.slice(0, LINES_TOLD),
    hint: 'Nothing was stored. Grant the user SELECT on them, then build again.',
  });
}

function linesOf(stderr: string): string[] {
  const lines = redact(stderr)
    .split('\n')
    .map((line) => line.trim());
  return lines.filter((line) => line !== '');
}

function programFailed({ name }: ClientTool, stderr: string): UserError {
  return new UserError('dump_failed', `${name} failed`, {
    details: linesOf(stderr).slice(0, LINES_TOLD),
    hint: 'Nothing was stored. The user probably lacks a privilege: SELECT, SHOW VIEW, TRIGGER and EVENT on the database, SHOW_ROUTINE on MySQL.',
  });
}

function notUnderstood({ name, version }: ClientTool, cause: unknown): unknown {
  const known = cause instanceof StatementUnknown || cause instanceof InsertRefused;
  if (!known) return cause;
  return new UserError('dump_failed', `${name} ${version} wrote a statement that cannot be stored`, {
    details: [redact(cause.message)],
    hint: 'Nothing was stored. Build without program: true, or with another version of the program (docker.images.mysql).',
    cause,
  });
}

function cutShort({ name }: ClientTool, what: string): UserError {
  return new UserError('dump_failed', `The dump of ${what} by ${name} is cut short`, {
    hint: 'Is the disk full? Nothing was stored.',
  });
}

function changed(display: string): UserError {
  return new UserError('dump_failed', `Objects of ${display} were created, changed or dropped during the dump`, {
    hint: 'Nothing was stored. Build again.',
  });
}
