import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { queryFilesIn } from '../../config/query-files.ts';
import { ownershipOf } from '../../repository/store/claim.ts';
import { createFolder } from '../../repository/store/folder.ts';
import {
  type HistoryEntry,
  type HistoryList,
  historyEntry,
  MAX_BRANCHES,
  MAX_TEXT,
} from '../../results/history-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { openLogFile } from '../../runtime/log-file.ts';

type WithDirectory = Pick<Context, 'configuration'>;

/** Bytes of each of the two files: about 3,000 entries. */
const MAX_BYTES = 1024 * 1024;

const lineSchema = v.pipe(v.string(), v.parseJson(), historyEntry);

/**
 * Appends an entry: one write, so that processes which write at the same time tear none. A folder with foreign files
 * stays as it is.
 */
export async function appendHistory(
  context: WithDirectory,
  entry: HistoryEntry,
  { maxBytes = MAX_BYTES } = {},
): Promise<void> {
  const { settings } = context.configuration;
  const folder = createFolder(settings.working_directory);
  if ((await ownershipOf(folder, queryFilesIn(settings))) === 'foreign') return;
  const cut = (value: string): string => value.slice(0, MAX_TEXT);
  const bounded: HistoryEntry = {
    ...entry,
    from: entry.from && cut(entry.from),
    to: entry.to && cut(entry.to),
    branches: entry.branches.slice(0, MAX_BRANCHES),
  };
  const append = openLogFile({ path: pathOf(context), maxBytes, keep: 1 });
  // A line begins with a line feed: a process that was killed while it wrote damages its own line only.
  append(`\n${JSON.stringify(bounded)}`);
}

/** The kept entries, newest first; lines that are not entries are counted. */
export function readHistory(context: WithDirectory): HistoryList {
  const lines = keptLines(context).filter((line) => line !== '');
  const parsed = lines.map((line) => v.safeParse(lineSchema, line));
  const entries = parsed.flatMap(({ success, output }) => (success ? [output] : []));
  // By their ends, entries are in order; a list is by beginnings.
  const newestFirst = entries.reverse().sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return { entries: newestFirst, damaged_lines: lines.length - entries.length };
}

/** The same; none where the history cannot be read: an estimate does without. */
export function knownEntries(context: WithDirectory): HistoryEntry[] {
  try {
    return readHistory(context).entries;
  } catch {
    return [];
  }
}

/** The time of the last proof by restore of each snapshot of a target, as far as the history goes back. */
export function readProofs(context: WithDirectory, target: string): Map<string, string> {
  const proofs = new Map<string, string>();
  for (const line of keptLines(context).filter((text) => text.includes('"verify"'))) {
    const { success, output } = v.safeParse(lineSchema, line);
    if (!success || output.operation !== 'verify' || output.outcome !== 'done') continue;
    if (output.target === target && output.snapshot !== null) proofs.set(output.snapshot, output.at);
  }
  return proofs;
}

function keptLines(context: WithDirectory): string[] {
  const path = pathOf(context);
  return [`${path}.1`, path].flatMap((file) => lastLines(file));
}

/** A file that somebody else has made longer is read from its end. */
function lastLines(file: string): string[] {
  let handle: number;
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw unreadable(file, error);
  }
  try {
    const { size } = fstatSync(handle);
    const most = 2 * MAX_BYTES;
    const buffer = Buffer.alloc(Math.min(size, most));
    const read = readSync(handle, buffer, 0, buffer.length, size - buffer.length);
    const lines = buffer.toString('utf8', 0, read).split('\n');
    return size > most ? lines.slice(1) : lines;
  } catch (error) {
    throw unreadable(file, error);
  } finally {
    closeSync(handle);
  }
}

function unreadable(file: string, cause: unknown): UserError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new UserError('history_unreadable', `The history cannot be read: ${reason}`, {
    hint: `Correct the rights of ${file}, or move it elsewhere.`,
    cause,
  });
}

function pathOf({ configuration }: WithDirectory): string {
  return join(configuration.settings.working_directory, 'history.jsonl');
}
