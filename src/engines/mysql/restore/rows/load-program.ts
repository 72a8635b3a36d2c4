import { once } from 'node:events';
import { redact } from '../../../../process/redact.ts';
import type { RunningProcess } from '../../../../process/runner.ts';
import { bytesOfTable, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import { release } from '../../../../repository/objects/release.ts';
import { UserError } from '../../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { RestoreRun } from '../../../facets/restore.ts';
import { restoreProgress } from '../../../shared/bytes-progress.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { runWorkers } from '../../../shared/run-together.ts';
import type { TableDefinition } from '../../catalog/definitions/definitions.ts';
import { readServer } from '../../catalog/introspect.ts';
import { type ClientConnection, connectionOf } from '../../connection/client-options.ts';
import { connectToServer } from '../../connection/connect.ts';
import { type ClientTool, ownClientFor } from '../../connection/tools.ts';
import type { Details } from '../../details.ts';
import { InsertRefused } from '../../dump/program/insert-scanner.ts';
import { checkedRows, END_OF_ROWS } from '../../dump/program/rows-file.ts';
import { profile } from '../../profile.ts';

export interface Client {
  tool: ClientTool;
  connection: ClientConnection;
}

export async function openClient(
  context: EngineContext,
  { url, directory }: Pick<RestoreRun, 'url' | 'directory'>,
): Promise<Client> {
  await using server = await connectToServer(context, url);
  const tool = await ownClientFor(context, await readServer(server));
  return { tool, connection: await connectionOf(url, { flavour: tool.flavour, directory }) };
}

/** No client commands in the input; a line for each value that the server changes. */
const FLAGS = [
  '--default-character-set=utf8mb4',
  '--batch',
  '--binary-mode',
  '--show-warnings',
  '--max-allowed-packet=1G',
];

/** Same settings as those of the driver's sessions, so that literals keep the meaning that was checked. */
const PROLOGUE =
  "SET NAMES utf8mb4, lc_messages = 'en_US', time_zone = '+00:00', sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', foreign_key_checks = 0, unique_checks = 0;\n";

export interface ClientLoadOptions extends Pick<RestoreRun, 'plan' | 'cpus' | 'read'> {
  client: Client;
  url: DatabaseUrl;
  details: Details;
  definitions: TableDefinition[];
}

export async function loadByProgram(context: EngineContext, loading: ClientLoadOptions): Promise<void> {
  const { plan, cpus } = loading;
  const queue = plan.tables.filter(({ rows }) => rows > 0).sort((a, b) => bytesOfTable(b) - bytesOfTable(a));
  const onBytes = restoreProgress(context.report, plan.tables, profile.rows.endBytes);
  const client = (signal: AbortSignal): Promise<void> => runClient({ ...context, signal }, { loading, queue, onBytes });
  await runWorkers(context.signal, { count: Math.min(cpus, queue.length), work: client });
}

interface ClientRun {
  loading: ClientLoadOptions;
  queue: ManifestTable[];
  onBytes: (table: string, bytes: number) => void;
}

async function runClient({ runner, signal }: EngineContext, { loading, queue, onBytes }: ClientRun): Promise<void> {
  const { client, url, details } = loading;
  const { tool, connection } = client;
  const { args, env, mounts } = connection;
  const child = runner.start(
    { file: tool.path, args: [...args, ...FLAGS, '--', url.database ?? ''], env, mounts },
    { signal },
  );
  child.stdin.on('error', () => {});
  const changes = changesIn(child, enumsOf(loading.definitions));
  try {
    let open = await write(child, Buffer.from(PROLOGUE));
    for (let table = queue.shift(); table && open && !signal.aborted; table = queue.shift()) {
      const { name, file, rows } = table;
      const data = details.data[file.name];
      if (!data) throw new Error(`the manifest has no columns for ${name}`);
      const content = withoutEnd(loading.read(file), { bytes: file.bytes, onBytes: (bytes) => onBytes(name, bytes) });
      for await (const part of checkedRows(content, { table: data.table, rows })) {
        open = await write(child, Buffer.from(part));
        if (!open) break;
      }
      if (open) open = await write(child, Buffer.from('\n'));
    }
  } catch (error) {
    child.kill();
    await child.ended.catch(() => {});
    throw error instanceof InsertRefused ? rowsRefused(error) : error;
  }
  child.stdin.end();
  const { exitCode, stderr } = await child.ended;
  if (exitCode !== 0) {
    throw restoreFailed(`${tool.name} could not load the rows`, errorsIn(stderr));
  }
  const changed = await changes;
  if (changed.length > 0) throw restoreFailed('The server does not take values of the snapshot as they are', changed);
}

const LINES_TOLD = 20;

/** Error lines only: MariaDB's client repeats the statement, with rows. */
function errorsIn(stderr: string): string[] {
  const lines = redact(stderr).split('\n');
  const errors = lines.filter((line) => /^(?:ERROR \d+|\S*(?:mysql|mariadb): )/.test(line)).slice(0, LINES_TOLD);
  return errors.length > 0 ? errors : ['It ended without a reason.'];
}
/** A NULL for a generated column; deprecation warnings. */
const HARMLESS = new Set(['1906', '1287', '1681', '6414']);
/** Data truncated; also reported for an invalid ENUM value that is stored unchanged. */
const DATA_TRUNCATED = '1265';

function enumsOf(tables: TableDefinition[]): string[] {
  const names = tables.flatMap(({ create }) => [...create.matchAll(/^ {2}`((?:[^`]|``)*)` (?:enum|set)\(/gm)]);
  return [...new Set(names.map(([, name = '']) => `'${name.replaceAll('``', '`')}'`))];
}

/** Warnings of the server about changed values, one a line; INSERTs have no other output. */
async function changesIn({ stdout }: RunningProcess, enums: string[]): Promise<string[]> {
  const changes = new Set<string>();
  let unfinished = '';
  for await (const part of stdout.setEncoding('utf8')) {
    const lines = (unfinished + String(part)).split('\n');
    unfinished = lines.pop() ?? '';
    for (const line of lines) {
      const [, code = '', words = ''] = /^(?:Warning|Error) \(Code (\d+)\): (.*)$/.exec(line) ?? [];
      const isEnum = code === DATA_TRUNCATED && enums.some((name) => words.includes(name));
      if (words !== '' && !HARMLESS.has(code) && !isEnum && changes.size < LINES_TOLD) changes.add(words);
    }
  }
  return [...changes];
}

async function write({ stdin, ended }: RunningProcess, bytes: Uint8Array): Promise<boolean> {
  if (stdin.destroyed || !stdin.writable) return false;
  if (stdin.write(bytes)) return true;
  const stop = new AbortController();
  const drained = once(stdin, 'drain', { signal: stop.signal }).then(
    () => true,
    () => false,
  );
  const over = ended.then(
    () => false,
    () => false,
  );
  return Promise.race([drained, over]).finally(() => stop.abort());
}

async function* withoutEnd(
  content: AsyncIterable<Uint8Array<ArrayBuffer>>,
  { bytes, onBytes }: { bytes: number; onBytes: (bytes: number) => void },
): AsyncGenerator<Uint8Array> {
  let left = bytes - END_OF_ROWS.length;
  for await (const frame of content) {
    const part = frame.subarray(0, Math.max(0, left));
    left -= part.length;
    if (part.length > 0) yield part;
    onBytes(frame.length);
    release(frame);
  }
}

function rowsRefused(cause: InsertRefused): UserError {
  return new UserError(
    'content_refused',
    `The rows of the snapshot hold a statement that is no INSERT of rows: ${cause.message}`,
    {
      hint: 'The destination is unchanged. The snapshot was forged or damaged: build it again from a source you trust.',
      cause,
    },
  );
}
