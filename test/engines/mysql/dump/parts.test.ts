import { expect, it } from 'vitest';
import { cut } from '../../../../src/engines/mysql/dump/parts.ts';

const MEGABYTE = 1024 * 1024;

it('cuts at the same places when the table has grown since', () => {
  const before = cut({ key: 'id', low: 1, high: 1_000_000, bytes: 200 * MEGABYTE });
  const after = cut({ key: 'id', low: 1, high: 1_100_000, bytes: 220 * MEGABYTE });
  expect(before.length).toBeGreaterThan(2);
  expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
});

it('leaves no key out and takes none twice, below the lowest and above the highest as well', () => {
  const parts = cut({ key: 'id', low: -70, high: 190, bytes: 400 * MEGABYTE });
  const holds = (part: string | null, id: number): boolean =>
    (part ?? '').split(' AND ').every((condition) => {
      const [, operator, bound] = condition.split(' ');
      return operator === '<' ? id < Number(bound) : id >= Number(bound);
    });
  for (let id = -100; id < 300; id += 1) expect(parts.filter((part) => holds(part, id))).toHaveLength(1);
});

it('leaves a table whole whose keys are beyond exact numbers', () => {
  expect(cut({ key: 'id', low: 0, high: 2 ** 63, bytes: 400 * MEGABYTE })).toEqual([null]);
});
