import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { isOneCellEach, lazySegmenter } from '../../.ci/bundle/plain-text.mjs';
import { fc } from '../helpers/fast-check.ts';

const standalone = Array.from({ length: 0x1_00_00 }, (_, code) => String.fromCharCode(code)).filter((character) => {
  let isMade = false;
  lazySegmenter(() => {
    isMade = true;
    return new Intl.Segmenter();
  }).segment(character);
  return !isMade;
});

/** What could join, widen or break what stands beside it, among characters that cannot. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(...standalone),
      fc.constantFrom(...'\r\n\t\u{1b}é\u{301}\u{200d}\u{fe0f}👍界가'),
      fc.string(),
    ),
  )
  .map((parts) => parts.join(''));

test('most characters of the screens need no segmenter', () => {
  expect(standalone.length).toBeGreaterThan(1_000);
});

test('text is cut into the graphemes that Intl.Segmenter finds, with or without it', () => {
  const segmenter = new Intl.Segmenter();
  const lazy = lazySegmenter(() => segmenter);
  fc.assert(
    fc.property(text, fc.nat(20), (sample, index) => {
      expect([...lazy.segment(sample)]).toEqual([...segmenter.segment(sample)].map((segment) => ({ ...segment })));
      expect(lazy.segment(sample).containing(index)).toEqual(segmenter.segment(sample).containing(index));
    }),
  );
});

test('plain text with colours needs no segmenter', () => {
  const lazy = lazySegmenter(() => expect.fail('made'));
  expect([...lazy.segment('\u{1b}[32m│ ✓ é\u{1b}[39m')]).toHaveLength(15);
});

test('a text of which every character takes a cell is as wide as it is long', () => {
  const cells = standalone.filter(isOneCellEach);
  expect(cells.length).toBeGreaterThan(1_000);
  expect(cells.filter((character) => stringWidth(character) !== 1)).toEqual([]);
  fc.assert(
    fc.property(text, (sample) => {
      if (isOneCellEach(sample)) expect(stringWidth(sample)).toBe(sample.length);
    }),
  );
});
