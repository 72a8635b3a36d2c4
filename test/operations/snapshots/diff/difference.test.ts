import { expect, it } from 'vitest';
import type { RowChunks } from '../../../../src/engines/shared/rows/compare-rows.ts';
import { findDifference } from '../../../../src/operations/snapshots/diff/difference.ts';
import { randomFrom } from '../../../helpers/random.ts';

const SEED = Number(process.env.SEED ?? 39);

async function* chunksOf(lines: string[]): RowChunks {
  for (let at = 0; at < lines.length; at += 50)
    yield Buffer.from(
      lines
        .slice(at, at + 50)
        .map((line) => `${line}\n`)
        .join(''),
    );
}

it('rows that do not fit into memory are found in parts, with the counts of all', async () => {
  const random = randomFrom(SEED);
  const below = (most: number): number => Math.floor(random() * most);
  const { signal } = new AbortController();
  for (let round = 0; round < 6; round += 1) {
    const key = round % 2 === 0 ? [1] : [];
    const rows = (share: number) =>
      Array.from({ length: 400 }, (_, id) => id).flatMap((id) =>
        random() < share
          ? []
          : Array<string>(key.length > 0 ? 1 : 1 + below(2)).fill(`${below(10) === 0 ? 'new' : 'old'}\tkey ${id}\t\\N`),
      );
    const [before, after] = [rows(0.2), rows(0.3)];
    const pairs = () => [{ before: chunksOf(before), after: chunksOf(after) }];
    const whole = await findDifference(pairs, { key, signal });
    const inParts = await findDifference(pairs, { key, signal, mostBytes: 6_000 });
    expect(whole).toMatchObject({ isWhole: true });
    expect(inParts, `seed ${SEED}, round ${round}`).toMatchObject({ isWhole: false, counts: whole?.counts });
    for (const kind of ['removed', 'added', 'changed'] as const) {
      const sorted = (found: typeof whole) => found?.[kind].map((one) => JSON.stringify(one)).sort();
      expect(sorted(inParts)).toEqual(sorted(whole));
    }
    const left = new Map<string, number>();
    for (const row of before) left.set(row, (left.get(row) ?? 0) + 1);
    for (const row of after) left.set(row, (left.get(row) ?? 0) - 1);
    const sum = (sign: number) => [...left.values()].reduce((all, count) => all + Math.max(0, sign * count), 0);
    const { removed = 0, added = 0, changed = 0 } = whole?.counts ?? {};
    expect([removed + changed, added + changed]).toEqual([sum(1), sum(-1)]);
  }
});
