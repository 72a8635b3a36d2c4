import { randomBytes } from 'node:crypto';
import type { ProcessResult, RunningProcess } from '../../../process/runner.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { CopiedAmount } from '../../shared/bytes-progress.ts';
import { connectionLost } from '../../shared/connection/explain-errors.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { quoteText } from '../connection/quote.ts';
import { PSQL_FLAGS, TABLES_ONLY } from '../connection/session.ts';
import { ConnectionLost } from '../connection/session-errors.ts';
import { connectionEnvironment, encodingSettings, type SessionSettings } from '../connection/url.ts';
import { END_OF_COPY } from '../dump/archive.ts';
import { failureWords, isConnectionLost } from '../restore/restore-errors.ts';
import {
  COPY_FLAGS,
  COPY_SETTINGS,
  type CopyCommands,
  copyCommands,
  MOST_BYTES_OF_ALL,
} from '../restore/rows/copy-commands.ts';
import { copyCounts, textOf, write } from '../restore/rows/feed-tables.ts';
import { createRowGuard } from '../restore/rows/stored-rows.ts';
import { FURTHER_READING_SETTINGS, type OpenSource } from './open-source.ts';
import { splitAtMark } from './split-at-mark.ts';

export interface Pipe {
  source: OpenSource;
  url: DatabaseUrl;
  settings: SessionSettings;
  /** For errors: `The rows of the subset`. */
  what: string;
  parts: Part[];
  /** Statements of the writer before all parts. */
  prepare?: string[];
  onMoved: (part: Part, moved: CopiedAmount) => void;
}

export interface Part {
  name: string;
  read: () => Iterable<string>;
  write: string;
}

const BATCH_PARTS = 200;

/**
 * One psql reads at the source's instant, another writes: data of the source never become statements. Returns rows by
 * part, as counted by the writer.
 */
export async function pipeRows(context: EngineContext, { parts, ...pipe }: Pipe): Promise<number[]> {
  const counts: number[] = [];
  for (const batch of batches(parts)) counts.push(...(await pipeBatch(context, { ...pipe, parts: batch })));
  return counts;
}

/** Bounded by the arguments of a psql. */
function batches(parts: Part[]): Part[][] {
  const all: Part[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const part of parts) {
    const command = Buffer.byteLength(part.write);
    bytes += command;
    const last = all.at(-1);
    if (!last || bytes > MOST_BYTES_OF_ALL || last.length === BATCH_PARTS) {
      all.push([part]);
      bytes = command;
    } else {
      last.push(part);
    }
  }
  return all;
}

async function pipeBatch(context: EngineContext, { source, url, settings, what, parts, prepare = [], onMoved }: Pipe) {
  const { runner, signal } = context;
  const psql = source.tools.psql;
  const from = connectionEnvironment(source.url, {
    ...COPY_SETTINGS,
    ...FURTHER_READING_SETTINGS,
    ...encodingSettings(source.locale),
  });
  const to = connectionEnvironment(url, { ...COPY_SETTINGS, ...settings });
  const commands = copyCommands(
    parts.map((part) => part.write),
    source.tools,
  );
  const prepared = prepare.map((statement) => `--command=${statement}`);
  const flags = [...PSQL_FLAGS, '--set=ON_ERROR_STOP=1', '--file=-'];
  const reader = runner.start({ file: psql, ...from, args: [...flags, ...from.args] }, { signal });
  const args = [...COPY_FLAGS, '--single-transaction', ...prepared, ...commands.args, ...to.args];
  const writer = runner.start({ file: psql, ...to, args }, { signal });
  const said = textOf(writer.stdout);
  // Without a listener Node drops unread output of an ended program.
  reader.stdout.on('readable', () => {});
  // Unknown to the source.
  const mark = randomBytes(16).toString('hex');
  /** Ended by us, after another failure. */
  const stopped = new Set<RunningProcess>();
  const stop = (child: RunningProcess): void => {
    stopped.add(child);
    child.kill();
  };
  const [, passed, read, written] = await Promise.allSettled([
    tell(reader, { snapshot: source.snapshot, parts, mark }),
    pass({ reader, writer, parts, mark, onMoved, stop, commands }),
    reader.ended,
    writer.ended,
  ]);
  signal.throwIfAborted();
  if (passed.status === 'rejected' && passed.reason instanceof UserError) throw passed.reason;
  assertCopied({ url: source.url, ended: read, what: `${what} could not be read`, wasStopped: stopped.has(reader) });
  assertCopied({ url, ended: written, what: `${what} could not be written`, wasStopped: stopped.has(writer) });
  if (passed.status === 'rejected') throw passed.reason;
  const counts = copyCounts(said());
  const wrong = parts.flatMap(({ name }, index) =>
    counts[index] === passed.value[index]
      ? []
      : [`${name}: ${counts[index] ?? 0} rows written, ${passed.value[index]} read`],
  );
  if (wrong.length > 0 || counts.length !== parts.length) throw restoreFailed(`${what} could not be written`, wrong);
  return counts;
}

interface Side {
  url: DatabaseUrl;
  ended: PromiseSettledResult<ProcessResult>;
  what: string;
  wasStopped: boolean;
}

function assertCopied({ url, ended, what, wasStopped }: Side): void {
  if (ended.status === 'rejected') throw ended.reason;
  const { exitCode } = ended.value;
  if (exitCode === 0 || (exitCode === null && wasStopped)) return;
  const details = failureWords('psql', ended.value).slice(0, 20);
  if (isConnectionLost(ended.value)) {
    throw connectionLost(url, { details, cause: new ConnectionLost(details.join('\n')) });
  }
  throw restoreFailed(what, details);
}

interface PartsRequest {
  snapshot: string;
  parts: Part[];
  mark: string;
}

async function tell({ stdin }: RunningProcess, { snapshot, parts, mark }: PartsRequest): Promise<void> {
  stdin.on('error', () => {});
  await write(stdin, `${TABLES_ONLY} \\g /dev/null\n`);
  await write(stdin, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;\n');
  await write(stdin, `SET TRANSACTION SNAPSHOT ${quoteText(snapshot)};\n`);
  for (const part of parts) {
    for (const text of part.read()) await write(stdin, text);
    await write(stdin, `\\echo ${mark}\n`);
  }
  stdin.end('COMMIT;\n');
}

interface PassRequest extends Pick<Pipe, 'parts' | 'onMoved'> {
  reader: RunningProcess;
  writer: RunningProcess;
  mark: string;
  commands: CopyCommands;
  stop: (child: RunningProcess) => void;
}

/** Rows by part. A failed reader ends the writer, which would take the end of its input for the end of the rows. */
async function pass({ reader, writer, parts, mark, onMoved, commands, stop }: PassRequest): Promise<number[]> {
  const counts: number[] = [];
  writer.stdin.on('error', () => stop(reader));
  const begin = async (): Promise<void> => {
    if (commands.before && counts.length < parts.length) await write(writer.stdin, commands.before(counts.length));
  };
  try {
    await begin();
    let guard = createRowGuard(parts[0]?.name ?? '');
    let rows = 0;
    for await (const piece of splitAtMark(reader.stdout, Buffer.from(`${mark}\n`))) {
      const part = parts[counts.length];
      if (!part) throw new Error('the reader went on after its last rows');
      if (piece) {
        guard.check(piece);
        await write(writer.stdin, piece);
        const moved = countLines(piece);
        rows += moved;
        onMoved(part, { rows: moved, bytes: piece.length });
        continue;
      }
      guard.end();
      await write(writer.stdin, END_OF_COPY);
      counts.push(rows);
      rows = 0;
      guard = createRowGuard(parts[counts.length]?.name ?? '');
      await begin();
    }
    const { exitCode } = await reader.ended;
    if (exitCode !== 0 || counts.length !== parts.length) throw new Error('the reader did not end well');
    writer.stdin.end(commands.after);
    return counts;
  } catch (error) {
    stop(reader);
    stop(writer);
    throw error;
  }
}

const LINE_FEED = 0x0a;

export function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) lines += 1;
  return lines;
}
