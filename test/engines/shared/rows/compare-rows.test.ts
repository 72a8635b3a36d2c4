import { describe, expect, it } from 'vitest';
import { compareRows, type RowsPair } from '../../../../src/engines/shared/rows/compare-rows.ts';
import { fc } from '../../../helpers/fast-check.ts';

const { signal } = new AbortController();

/** The rows in chunks of `size` bytes. */
async function* chunksOf(rows: string[], size: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const bytes = Buffer.from(rows.map((row) => `${row}\n`).join(''), 'latin1');
  for (let at = 0; at < bytes.length; at += size) yield new Uint8Array(bytes.subarray(at, at + size));
}

function pairsOf(before: (string[] | null)[], after: (string[] | null)[], size: number): RowsPair[] {
  return Array.from({ length: Math.max(before.length, after.length) }, (_, at) => {
    const [old, now] = [before[at], after[at]];
    return { before: old ? chunksOf(old, size) : null, after: now ? chunksOf(now, size) : null };
  });
}

/** The rows that the first has more often. */
function without(all: string[], others: string[]): string[] {
  const left = new Map<string, number>();
  for (const row of others) left.set(row, (left.get(row) ?? 0) + 1);
  return all.filter((row) => {
    const count = left.get(row) ?? 0;
    left.set(row, count - 1);
    return count <= 0;
  });
}

const MUCH = Number.MAX_SAFE_INTEGER;
const LIMITS = { mostRemoved: MUCH, mostAdded: MUCH, mostBytes: MUCH, signal };

describe('compareRows', () => {
  it('finds the rows of one side only, wherever they are', async () => {
    const row = fc.oneof(
      fc.integer({ min: 0, max: 30 }).map((n) => `${n}\trow`),
      fc.stringMatching(/^[a-zäß\\\t]{0,9}$/),
    );
    const part = fc.option(fc.array(row, { maxLength: 40 }));
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          old: fc.array(part, { maxLength: 4 }),
          other: fc.array(part, { maxLength: 4 }),
          moved: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 5 }),
          isSimilar: fc.boolean(),
          size: fc.integer({ min: 1, max: 300 }),
        }),
        async ({ old, other, moved, isSimilar, size }) => {
          const now = isSimilar ? old.map((rows) => rows && [...rows]) : other;
          const parts = now.filter((rows) => rows !== null && rows.length > 0) as string[][];
          for (const [from, to] of parts.length > 0 ? moved : []) {
            const source = parts[from % parts.length] ?? [];
            const [taken] = source.splice(from % Math.max(1, source.length), 1);
            if (taken !== undefined && to % 3 > 0) (parts[to % parts.length] ?? []).splice(to % 7, 0, taken);
          }
          const [before, after] = [old.flatMap((rows) => rows ?? []), now.flatMap((rows) => rows ?? [])];
          const found = await compareRows(pairsOf(old, now, size), LIMITS);
          if (typeof found === 'string') throw new Error(found);
          expect(found.removed.sort()).toEqual(without(before, after).sort());
          expect(found.added.sort()).toEqual(without(after, before).sort());
        },
      ),
    );
  });

  it('cancels rows that moved to another part, and blocks that are equal', async () => {
    const rows = Array.from({ length: 50_000 }, (_, index) => `${index}\t${'x'.repeat(index % 50)}`);
    const moved = [...rows.slice(100, 30_000), 'new', ...rows.slice(30_000), ...rows.slice(0, 100)];
    const pairs = pairsOf([rows.slice(0, 20_000), rows.slice(20_000)], [moved.slice(0, 9), moved.slice(9)], 65_536);
    expect(await compareRows(pairs, LIMITS)).toEqual({ removed: [], added: ['new'], bytes: 153 });
  });

  it('returns null when more rows differ than may be in memory, and on a row that is too large', async () => {
    const rows = Array.from({ length: 1000 }, (_, index) => `${index}`);
    expect(await compareRows(pairsOf([rows], [[]], 100), { ...LIMITS, mostRemoved: 1000 })).toBe('much of it differs');
    expect(await compareRows(pairsOf([[]], [rows], 100), { ...LIMITS, mostAdded: 1000 })).toBe('much of it differs');
    expect(await compareRows(pairsOf([rows], [[]], 100), { ...LIMITS, mostBytes: 1000 })).toMatch(/in memory/);
    const short = { ...LIMITS, mostBytes: 100_000 };
    expect(await compareRows(pairsOf([rows.slice(0, 500)], [rows.slice(500)], 100), short)).toMatch(/in memory/);
    const large = ['y'.repeat(17 * 1024 * 1024)];
    expect(await compareRows(pairsOf([large], [large], 1024 * 1024), LIMITS)).toMatch(/a row of more than 16 MB/);
  });
});
