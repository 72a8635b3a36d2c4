import { compareRows, LARGE_ROW, type RowsPair } from '../../../engines/shared/rows/compare-rows.ts';

/** Rows that only one side has, as lines in the text of COPY. */
export interface RowDifference {
  counts: { removed: number; added: number; changed: number };
  /** All of them, or the first ones of each kind where they are too many to keep. */
  removed: string[];
  added: string[];
  /** Rows with the same key, as they were and as they are. */
  changed: [before: string, after: string][];
  isWhole: boolean;
}

export interface DifferenceOptions {
  /** Indexes of the columns of the key. */
  key: number[];
  signal: AbortSignal;
  /** Memory of rows without an equal one. */
  mostBytes?: number;
}

const MOST_BYTES = 64 * 1024 * 1024;
const MOST_PARTS = 256;
/** Rows of each kind that are kept of more. */
const MOST_KEPT = 1000;

/**
 * Finds the rows that differ; `null` where they are too many or too large. What does not fit into memory is compared in
 * several passes, each for a part of the keys.
 */
export async function findDifference(
  pairs: () => Iterable<RowsPair>,
  options: DifferenceOptions,
): Promise<RowDifference | null> {
  for (let parts = 1; parts <= MOST_PARTS; parts *= 4) {
    const found = await inParts(pairs, parts, options);
    if (found === LARGE_ROW) return null;
    if (typeof found === 'object') return found;
  }
  return null;
}

async function inParts(
  pairs: () => Iterable<RowsPair>,
  parts: number,
  { key, signal, mostBytes = MOST_BYTES }: DifferenceOptions,
): Promise<RowDifference | string> {
  const isWhole = parts === 1;
  const counts = { removed: 0, added: 0, changed: 0 };
  const all: RowDifference = { counts, removed: [], added: [], changed: [], isWhole };
  for (let part = 0; part < parts; part += 1) {
    const isCompared = isWhole ? {} : { isCompared: (row: string) => hashOf(keyOf(row, key)) % parts === part };
    const limits = { mostRemoved: mostBytes, mostAdded: mostBytes, mostBytes, signal, ...isCompared };
    const difference = await compareRows(pairs(), limits);
    if (typeof difference === 'string') return difference;
    const { removed, added, changed } = withChanged(difference, key);
    counts.removed += removed.length;
    counts.added += added.length;
    counts.changed += changed.length;
    if (isWhole) return { ...all, removed, added, changed };
    all.removed.push(...removed.slice(0, MOST_KEPT - all.removed.length));
    all.added.push(...added.slice(0, MOST_KEPT - all.added.length));
    all.changed.push(...changed.slice(0, MOST_KEPT - all.changed.length));
  }
  return all;
}

/** Without a key the whole row. Equal values are equal text in a line. */
function keyOf(line: string, key: number[]): string {
  if (key.length === 0) return line;
  const fields = line.split('\t');
  return key.map((index) => fields[index]).join('\t');
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function withChanged({ removed, added }: Pick<RowDifference, 'removed' | 'added'>, key: number[]) {
  if (key.length === 0 || removed.length === 0 || added.length === 0) return { removed, added, changed: [] };
  const old = new Map(removed.map((line) => [keyOf(line, key), line]));
  const changed: [string, string][] = [];
  const only = added.filter((line) => {
    const own = keyOf(line, key);
    const earlier = old.get(own);
    if (earlier === undefined) return true;
    old.delete(own);
    changed.push([earlier, line]);
    return false;
  });
  return { removed: [...old.values()], added: only, changed };
}
