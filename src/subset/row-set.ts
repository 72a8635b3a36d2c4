/**
 * A set of rows, each a number that the engine gives it. Bits in chunks, since rows that come together lie together: ten
 * million rows take some megabytes, however many of them are in the set.
 */
export interface RowSet extends Iterable<number> {
  readonly size: number;
  has(row: number): boolean;
  /** Whether it was not in the set before. */
  add(row: number): boolean;
  delete(row: number): boolean;
}

const CHUNK_BITS = 4096;

export function createRowSet(rows: Iterable<number> = []): RowSet {
  const chunks = new Map<number, Uint32Array>();
  let size = 0;
  const set: RowSet = {
    get size() {
      return size;
    },
    has(row) {
      const bit = row % CHUNK_BITS;
      return (((chunks.get(Math.floor(row / CHUNK_BITS))?.[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 1;
    },
    add(row) {
      if (set.has(row)) return false;
      const number = Math.floor(row / CHUNK_BITS);
      const chunk = chunks.get(number) ?? new Uint32Array(CHUNK_BITS / 32);
      chunks.set(number, chunk);
      const bit = row % CHUNK_BITS;
      chunk[bit >>> 5] = (chunk[bit >>> 5] ?? 0) | (1 << (bit & 31));
      size += 1;
      return true;
    },
    delete(row) {
      if (!set.has(row)) return false;
      const chunk = chunks.get(Math.floor(row / CHUNK_BITS));
      const bit = row % CHUNK_BITS;
      if (chunk) chunk[bit >>> 5] = (chunk[bit >>> 5] ?? 0) & ~(1 << (bit & 31));
      size -= 1;
      return true;
    },
    *[Symbol.iterator]() {
      for (const number of [...chunks.keys()].sort((a, b) => a - b)) {
        const chunk = chunks.get(number) ?? new Uint32Array();
        for (const [index, word] of chunk.entries()) {
          for (let bit = 0; word >>> bit !== 0 && bit < 32; bit += 1) {
            if (((word >>> bit) & 1) === 1) yield number * CHUNK_BITS + index * 32 + bit;
          }
        }
      }
    },
  };
  for (const row of rows) set.add(row);
  return set;
}
