/** A set of row numbers as a bitmap in chunks, because the numbers cluster: ten million rows take some megabytes. */
export interface RowSet extends Iterable<number> {
  readonly size: number;
  has(row: number): boolean;
  /** `false` when it was in the set already. */
  add(row: number): boolean;
  delete(row: number): boolean;
}

const WORD_BITS = 32;
const CHUNK_WORDS = 32;
const CHUNK_BITS = CHUNK_WORDS * WORD_BITS;

export function createRowSet(rows: Iterable<number> = []): RowSet {
  /** Offsets of chunks in one array: an array per chunk would be many objects. */
  const starts = new Map<number, number>();
  let words = new Uint32Array(CHUNK_WORDS);
  let size = 0;

  function find(row: number): number {
    const start = starts.get(Math.floor(row / CHUNK_BITS));
    return start === undefined ? -1 : start + ((row % CHUNK_BITS) >>> 5);
  }

  function make(row: number): number {
    const start = starts.size * CHUNK_WORDS;
    starts.set(Math.floor(row / CHUNK_BITS), start);
    if (start === words.length) {
      const larger = new Uint32Array(words.length * 2);
      larger.set(words);
      words = larger;
    }
    return start + ((row % CHUNK_BITS) >>> 5);
  }

  /** Flips the bit if it is `from`; returns whether it was. */
  function flip(row: number, { at, from }: { at: number; from: 0 | 1 }): boolean {
    const word = words[at] ?? 0;
    const bit = 1 << (row % WORD_BITS);
    if (((word & bit) === 0) === (from === 1)) return false;
    words[at] = word ^ bit;
    size += from === 0 ? 1 : -1;
    return true;
  }

  const set: RowSet = {
    get size() {
      return size;
    },
    has(row) {
      const at = find(row);
      return at !== -1 && ((words[at] ?? 0) & (1 << (row % WORD_BITS))) !== 0;
    },
    add(row) {
      const at = find(row);
      return flip(row, { at: at === -1 ? make(row) : at, from: 0 });
    },
    delete(row) {
      const at = find(row);
      return at !== -1 && flip(row, { at, from: 1 });
    },
    *[Symbol.iterator]() {
      const chunks = Float64Array.from(starts.keys()).sort();
      for (const chunk of chunks) {
        const start = starts.get(chunk) ?? 0;
        for (let word = 0; word < CHUNK_WORDS; word += 1) {
          for (let rest = words[start + word] ?? 0; rest !== 0; rest &= rest - 1) {
            yield chunk * CHUNK_BITS + word * WORD_BITS + WORD_BITS - 1 - Math.clz32(rest & -rest);
          }
        }
      }
    },
  };
  for (const row of rows) set.add(row);
  return set;
}
