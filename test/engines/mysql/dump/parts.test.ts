import { expect, it } from 'vitest';
import { cutParts } from '../../../../src/engines/mysql/dump/parts.ts';

const MEGABYTE = 1024 * 1024;

it('cuts at the same places when the table has grown since', () => {
  const { parts: before } = cutParts({ key: 'id', low: 1, high: 1_000_000, bytes: 200 * MEGABYTE });
  const { parts: after } = cutParts({ key: 'id', low: 1, high: 1_100_000, bytes: 220 * MEGABYTE });
  expect(before.length).toBeGreaterThan(2);
  expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
});

it('leaves no key out and takes none twice, below the lowest and above the highest as well', () => {
  const { parts } = cutParts({ key: 'id', low: -70, high: 190, bytes: 400 * MEGABYTE });
  const holds = (part: string | null, id: number): boolean =>
    (part ?? '').split(' AND ').every((condition) => {
      const [, operator, bound] = condition.split(' ');
      return operator === '<' ? id < Number(bound) : id >= Number(bound);
    });
  for (let id = -100; id < 300; id += 1) expect(parts.filter((part) => holds(part, id))).toHaveLength(1);
});

it('leaves a table whole whose keys are beyond exact numbers', () => {
  expect(cutParts({ key: 'id', low: 0, high: 2 ** 63, bytes: 400 * MEGABYTE })).toEqual({
    parts: [null],
    width: null,
  });
});

it('keeps the previous width while the estimated size varies, and gives it up when parts become too small or large', () => {
  const table = { key: 'id', low: 1, high: 1_000_000 };
  const { width } = cutParts({ ...table, bytes: 60 * MEGABYTE });
  if (width === null) throw new Error('not cut');
  for (const megabytes of [40, 61, 67, 90, 120])
    expect(cutParts({ ...table, bytes: megabytes * MEGABYTE, previousWidth: width }).width).toBe(width);
  expect(cutParts({ ...table, bytes: 1000 * MEGABYTE, previousWidth: width }).width).toBeLessThan(width);
  expect(cutParts({ ...table, bytes: 60 * MEGABYTE, previousWidth: width * 64 }).width).toBe(width);
  for (const odd of [0, -8, 3, Number.NaN, Number.POSITIVE_INFINITY])
    expect(cutParts({ ...table, bytes: 60 * MEGABYTE, previousWidth: odd }).width).toBe(width);
});
