import { expect, test } from 'vitest';
import { compareFigures } from '../../.ci/figures.mjs';

const kept = { small: { figures: { build: 2, load: 3 } }, large: { figures: { build: 1 } } };

test('a ratio may be a tenth worse than the kept one, and no more', () => {
  const measured = { small: { figures: { build: 2.2, load: 3.31, again: 1 } } };
  expect(compareFigures(kept, measured, ['small'])).toEqual([
    { bench: 'small', figure: 'build', kept: 2, now: 2.2, verdict: 'ok' },
    { bench: 'small', figure: 'load', kept: 3, now: 3.31, verdict: 'WORSE' },
    { bench: 'small', figure: 'again', kept: null, now: 1, verdict: 'new' },
  ]);
});

test('a kept ratio that was not measured is a failure, and so is a bench without figures', () => {
  expect(compareFigures(kept, {}, ['large', 'other'])).toEqual([
    { bench: 'large', figure: 'build', kept: 1, now: null, verdict: 'NOT MEASURED' },
    { bench: 'other', figure: '', kept: null, now: null, verdict: 'NOT MEASURED' },
  ]);
});
