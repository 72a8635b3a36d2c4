import { expect, test } from 'vitest';
import { aroundChange, bracketed, changedParts } from '../../src/presentation/shapes/changed-part.ts';
import { fullGridWidth, type Grid, layOutGrid } from '../../src/presentation/shapes/grid.ts';
import { GAP } from '../../src/presentation/shapes/table-layout.ts';
import { cellWidth } from '../../src/text/text-width.ts';
import { fc } from '../helpers/fast-check.ts';

const gridOf = (widths: number[], fixed: number): Grid<never> => ({
  columns: widths.map((width, index) => ({ name: `column ${index}`, width, align: 'left' })),
  ...{ fixed, rows: [], height: () => 1, cell: () => [] },
});

test('the columns in view fill the width and no more, the key first, and one other is always in view', () => {
  const widths = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 2, maxLength: 30 });
  fc.assert(
    fc.property(widths, fc.tuple(fc.nat(3), fc.nat(40)), fc.integer({ min: 36, max: 220 }), (all, numbers, width) => {
      const [keys, scrolled] = numbers;
      const fixed = Math.min(keys, all.length - 1);
      const { columns, before, after } = layOutGrid(gridOf(all, fixed), { scrolled, width });
      const used = columns.reduce((sum, column) => sum + column.width, 0) + GAP * (columns.length - 1);
      expect(used).toBeLessThanOrEqual(width);
      expect(columns.slice(0, fixed).map(({ index }) => index)).toEqual(all.slice(0, fixed).map((_, index) => index));
      expect(columns.length).toBeGreaterThan(fixed);
      expect(before + after + columns.length).toBe(all.length);
      // What is cut is cut since there is no room.
      if (columns.some(({ index, width: cells }) => cells < (all[index] ?? 0))) expect(used).toBe(width);
    }),
  );
});

test('a column that fits is never out of view, and room that is left goes to values that are cut', () => {
  const grid = gridOf([5, 100, 10], 1);
  expect(fullGridWidth(grid)).toBe(5 + 40 + 10 + 2 * GAP);
  expect(layOutGrid(grid, { scrolled: 0, width: 79 }).columns.map(({ width }) => width)).toEqual([5, 60, 10]);
  expect(layOutGrid(grid, { scrolled: 9, width: 79 })).toMatchObject({ before: 1, after: 0 });
});

test('two texts are split at what they have in common, and joined again are as they were', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), fc.string(), (start, end, middle) => {
      const [old, now] = [`${start}${end}`, `${start}${middle}${end}`];
      const [was, is] = changedParts(old, now);
      expect(was.before + was.changed + was.after).toBe(old);
      expect(is.before + is.changed + is.after).toBe(now);
      expect([was.before, was.after]).toEqual([is.before, is.after]);
    }),
  );
  expect(changedParts('luisg@x', 'xluisg@x').map(bracketed)).toEqual(['luisg@x', '[x]luisg@x']);
  expect(changedParts('one', 'two').map(bracketed)).toEqual(['one', 'two']);
});

test('a long text is cut so that the change is in view', () => {
  const [was] = changedParts(`${'漢'.repeat(100)}a end`, `${'漢'.repeat(100)}b end`);
  const shown = aroundChange(was, 20, '…');
  expect(shown).toMatchObject({ changed: 'a', after: ' end' });
  expect(shown.before).toMatch(/^…漢+$/);
  expect(cellWidth(shown.before + shown.changed + shown.after)).toBeLessThanOrEqual(20);
  expect(aroundChange(was, 500, '…')).toBe(was);
});
