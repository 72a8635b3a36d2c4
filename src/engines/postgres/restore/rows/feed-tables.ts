import type { Readable, Writable } from 'node:stream';
import type { ProcessResult, RunningProcess } from '../../../../process/runner.ts';
import type { ManifestFile, ManifestTable } from '../../../../repository/manifest/manifest.ts';
import { release } from '../../../../repository/objects/release.ts';
import { UserError } from '../../../../runtime/errors.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { ConnectionLost } from '../../connection/session-errors.ts';
import { type ArchiveDetails, END_OF_COPY } from '../../dump/archive.ts';
import { failureHint } from '../failure-hint.ts';
import { failureWords, isConnectionLost } from '../restore-errors.ts';
import type { CopyCommands, RowsToLoad } from './copy-commands.ts';
import type { FillRun } from './filling.ts';
import { storedRows } from './stored-rows.ts';

/** Results of feeding a psql and of the psql itself. */
export interface FeedOutcome {
  fed: PromiseSettledResult<void>;
  ended: PromiseSettledResult<ProcessResult>;
  details: ArchiveDetails;
  /** Message of a failure: `The rows of public.a could not be loaded`. */
  what: string;
}

/** Anything but exit code 0 is a failure; what was wrong with the rows is told rather than that psql was ended for it. */
export function assertFed({ fed, ended, details, what }: FeedOutcome): void {
  if (fed.status === 'rejected' && fed.reason instanceof UserError) throw fed.reason;
  if (ended.status === 'rejected') throw ended.reason;
  const { exitCode, stderr } = ended.value;
  if (fed.status === 'rejected' && exitCode === null && stderr.trim() === '') throw fed.reason;
  if (exitCode !== 0) {
    const words = failureWords('psql', ended.value);
    if (isConnectionLost(ended.value)) throw new ConnectionLost(words.join('\n'));
    throw restoreFailed(what, words.slice(0, 20), failureHint(words, details));
  }
  if (fed.status === 'rejected') throw fed.reason;
}

export interface Feed {
  read: FillRun['read'];
  batch: RowsToLoad[];
  child: RunningProcess;
  onBytes: (current: string, bytes: number) => void;
  commands: CopyCommands;
}

/**
 * The rows of the tables one after the other, each up to its end-of-copy mark, which is ours. When an object is damaged
 * the child is ended: an end of its input would be taken for the end of the rows.
 */
export async function feedTables({ read, batch, child, onBytes, commands }: Feed): Promise<void> {
  child.stdin.on('error', () => {});
  try {
    for (const [index, { table, files }] of batch.entries()) {
      if (commands.before) await write(child.stdin, commands.before(index));
      for (const file of files) {
        await feedFile({ read, table, file, onBytes, write: (rows) => write(child.stdin, rows) });
      }
      child.stdin.write(END_OF_COPY);
    }
    child.stdin.end(commands.after);
  } catch (error) {
    child.kill();
    throw error;
  }
}

interface FileFeed extends Pick<Feed, 'read' | 'onBytes'> {
  table: ManifestTable;
  file: ManifestFile;
  write: (rows: Uint8Array) => Promise<void>;
}

/** Passes on the rows of a file, and releases their memory. */
export async function feedFile({ read, table, file, write, onBytes }: FileFeed): Promise<void> {
  for await (const rows of storedRows(read, { table: table.name, file })) {
    await write(rows);
    onBytes(table.name, rows.length);
    release(rows);
  }
}

/** Collects a stream as text. Returns a function that gives the text so far. */
export function textOf(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}

export function write(input: Writable, content: Uint8Array | string): Promise<void> {
  return new Promise((resolve, reject) => {
    input.write(content, (error) => (error ? reject(error) : resolve()));
  });
}

/** psql says `COPY n` for each table, in order. */
export function copyCounts(said: string): number[] {
  return [...said.matchAll(/^COPY (\d+)$/gm)].map((match) => Number(match[1]));
}

/** The number of rows of each; refuses other numbers for whole tables than the manifest's. */
export function checkTags(tags: string, batch: RowsToLoad[]): number[] {
  return checkCounts(copyCounts(tags), batch);
}

export function checkCounts(counts: number[], batch: RowsToLoad[]): number[] {
  const lines = batch.flatMap(({ table: { name, rows }, isWhole }, index) => {
    const loaded = counts[index] ?? 0;
    return isWhole && loaded !== rows ? [rowsDiffer(name, { loaded, expected: rows })] : [];
  });
  if (counts.length > batch.length) lines.push(`${counts.length} tables were loaded instead of ${batch.length}`);
  if (lines.length > 0) throw restoreFailed('Not all rows were loaded', lines);
  return counts;
}

export function rowsDiffer(table: string, { loaded, expected }: { loaded: number; expected: number }): string {
  return `${table}: ${loaded} rows loaded, ${expected} in the manifest`;
}
