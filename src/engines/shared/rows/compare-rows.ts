import { release } from '../../../repository/objects/release.ts';

/** Rows as lines in chunks that end anywhere, the last line with its end. The reader owns each chunk. */
export type RowChunks = AsyncIterable<Uint8Array<ArrayBuffer>>;

/** Parts that are likely to have equal rows; either may be absent. */
export interface RowsPair {
  before: RowChunks | null;
  after: RowChunks | null;
}

/** Rows of one side only, as Latin-1 text without line feeds. */
export interface RowsDifference {
  removed: string[];
  added: string[];
  /** Memory of both sides. */
  bytes: number;
}

export interface ComparisonLimits {
  /** Bytes of rows of one side only. */
  mostRemoved: number;
  mostAdded: number;
  /** Memory of both sides. */
  mostBytes: number;
  /** Rows to compare; all when absent. */
  isCompared?: (row: string) => boolean;
  signal: AbortSignal;
}

/** A row is in memory as a whole. */
const MOST_ROW_BYTES = 16 * 1024 * 1024;
/** The reason for which no comparison of fewer rows would succeed. */
export const LARGE_ROW = 'it has a row of more than 16 MB';

/** Ends a comparison whose difference exceeds a limit, or that has a very large row. */
class GivenUp extends Error {
  override name = 'GivenUp';
}

/**
 * Finds the rows that only one side has, wherever they are; the pairs are read once, one after the other. Only rows
 * without an equal one so far are in memory. Resolves with the reason where they exceed a limit.
 */
export async function compareRows(pairs: Iterable<RowsPair>, { signal, ...limits }: ComparisonLimits) {
  const unmatched = createUnmatched(limits);
  try {
    for (const pair of pairs) await comparePair(pair, unmatched, signal);
    return unmatched.difference();
  } catch (error) {
    if (error instanceof GivenUp) return error.message;
    throw error;
  }
}

async function comparePair({ before, after }: RowsPair, unmatched: UnmatchedRows, signal: AbortSignal): Promise<void> {
  await using old = createLines(before);
  await using now = createLines(after);
  while (true) {
    const [hasOld, hasNow] = await Promise.all([old.fill(), now.fill()]);
    signal.throwIfAborted();
    if (!hasOld && !hasNow) return;
    while (old.at < old.end && now.at < now.end) compareLines(old, now, unmatched);
    if (!hasNow) while (old.at < old.end) unmatched.remove(old.take());
    if (!hasOld) while (now.at < now.end) unmatched.add(now.take());
    unmatched.assertWithin();
  }
}

function compareLines(old: Lines, now: Lines, unmatched: UnmatchedRows): void {
  skipEqual(old, now);
  if (old.at === old.end || now.at === now.end) return;
  // Mostly a row is gone or new, and the next one is equal again.
  if (isNextLine(old, now)) unmatched.remove(old.take());
  else if (isNextLine(now, old)) unmatched.add(now.take());
  else takeOther(old, now, unmatched);
}

function takeOther(old: Lines, now: Lines, unmatched: UnmatchedRows): void {
  const [removed, added] = [old.line(), now.line()];
  // The side whose row the other one had before is behind: it goes on alone, until both are at the same row again.
  const isOldBehind = unmatched.isAdded(removed);
  const isNowBehind = !isOldBehind && unmatched.isRemoved(added);
  if (!isNowBehind) unmatched.remove(old.take());
  if (!isOldBehind) unmatched.add(now.take());
}

/** Reports whether the line after the present one is the present one of the other side. */
function isNextLine(one: Lines, other: Lines): boolean {
  const next = one.bytes.indexOf(LINE_FEED, one.at) + 1;
  const size = other.bytes.indexOf(LINE_FEED, other.at) + 1 - other.at;
  if (next + size > one.end) return false;
  return one.bytes.compare(other.bytes, other.at, other.at + size, next, next + size) === 0;
}

const BLOCK_BYTES = 16 * 1024;

/** Moves both to their first lines that differ; blocks are compared by the platform, which takes most of them. */
function skipEqual(old: Lines, now: Lines): void {
  const isEqual = (from: number, size: number): boolean =>
    old.bytes.compare(now.bytes, now.at + from, now.at + from + size, old.at + from, old.at + from + size) === 0;
  const most = Math.min(old.end - old.at, now.end - now.at);
  let equal = 0;
  let size = Math.min(BLOCK_BYTES, most);
  while (size > 0 && isEqual(equal, size)) {
    equal += size;
    size = Math.min(BLOCK_BYTES, most - equal);
  }
  while (size > 1) {
    const half = size >> 1;
    if (isEqual(equal, half)) {
      equal += half;
      size -= half;
    } else {
      size = half;
    }
  }
  const lines = equal === 0 ? 0 : old.bytes.lastIndexOf(LINE_FEED, old.at + equal - 1) + 1 - old.at;
  old.at += Math.max(0, lines);
  now.at += Math.max(0, lines);
}

const LINE_FEED = 10;

/** The complete lines of the chunks so far that were not taken yet: `bytes` from `at` to `end`. */
interface Lines extends AsyncDisposable {
  bytes: Buffer;
  at: number;
  end: number;
  /** Resolves with `false` when there are no more lines. */
  fill(): Promise<boolean>;
  /** The next line without its end. */
  line(): string;
  take(): string;
}

function createLines(chunks: RowChunks | null): Lines {
  const iterator = chunks?.[Symbol.asyncIterator]();
  let size = 0;
  const append = (chunk: Uint8Array<ArrayBuffer>): void => {
    const rest = size - lines.end;
    const target = rest + chunk.length > lines.bytes.length ? Buffer.allocUnsafe(rest + chunk.length) : lines.bytes;
    lines.bytes.copy(target, 0, lines.end, size);
    target.set(chunk, rest);
    lines.bytes = target;
    lines.at = 0;
    size = rest + chunk.length;
    release(chunk);
    lines.end = target.lastIndexOf(LINE_FEED, size - 1) + 1;
    if (size - lines.end > MOST_ROW_BYTES) throw new GivenUp(LARGE_ROW);
  };
  const lines: Lines = {
    bytes: Buffer.alloc(0),
    at: 0,
    end: 0,
    async fill() {
      while (iterator && lines.at === lines.end) {
        const { done, value } = await iterator.next();
        if (done) return false;
        if (value.length > 0) append(value);
      }
      return lines.at < lines.end;
    },
    line: () => lines.bytes.toString('latin1', lines.at, lines.bytes.indexOf(LINE_FEED, lines.at)),
    take() {
      const row = lines.line();
      lines.at += row.length + 1;
      return row;
    },
    async [Symbol.asyncDispose]() {
      await iterator?.return?.();
    },
  };
  return lines;
}

interface UnmatchedRows {
  remove(row: string): void;
  add(row: string): void;
  isRemoved(row: string): boolean;
  isAdded(row: string): boolean;
  /** Throws GivenUp. */
  assertWithin(): void;
  difference(): RowsDifference;
}

interface UnmatchedSide {
  rows: Map<string, number>;
  bytes: number;
  /** Number of rows, equal ones too. */
  count: number;
}

/** Memory of a row besides its bytes: a string and an entry of a Map, later of an array. */
const ROW_BYTES = 150;

function createUnmatched(limits: Omit<ComparisonLimits, 'signal'>): UnmatchedRows {
  const { mostRemoved, mostAdded, mostBytes, isCompared = () => true } = limits;
  const removed: UnmatchedSide = { rows: new Map(), bytes: 0, count: 0 };
  const added: UnmatchedSide = { rows: new Map(), bytes: 0, count: 0 };
  const memory = (): number => removed.bytes + added.bytes + ROW_BYTES * (removed.count + added.count);
  const put = (own: UnmatchedSide, other: UnmatchedSide, row: string): void => {
    const equal = other.rows.get(row);
    if (equal === undefined) {
      if (!isCompared(row)) return;
      own.rows.set(row, (own.rows.get(row) ?? 0) + 1);
      own.bytes += row.length;
      own.count += 1;
      return;
    }
    if (equal === 1) other.rows.delete(row);
    else other.rows.set(row, equal - 1);
    other.bytes -= row.length;
    other.count -= 1;
  };
  const rowsOf = ({ rows }: UnmatchedSide): string[] =>
    [...rows].flatMap(([row, count]) => (count === 1 ? [row] : Array<string>(count).fill(row)));
  return {
    remove: (row) => put(removed, added, row),
    add: (row) => put(added, removed, row),
    isRemoved: (row) => removed.rows.has(row),
    isAdded: (row) => added.rows.has(row),
    assertWithin() {
      if (removed.bytes > mostRemoved || added.bytes > mostAdded) throw new GivenUp('much of it differs');
      if (memory() > mostBytes) throw new GivenUp('more differs than is kept in memory');
    },
    difference: () => ({ removed: rowsOf(removed), added: rowsOf(added), bytes: memory() }),
  };
}
