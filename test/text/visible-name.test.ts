import { expect, test } from 'vitest';
import { isVisibleName } from '../../src/text/visible-name.ts';

test.each(['before', 'a', 'Zwei Wörter', '漢字 🚀', '❤️', '../x', "o'brien"])('%j is a visible name', (name) => {
  expect(isVisibleName(name)).toBe(true);
});

test.each(['', ' a', 'a ', 'a\nb', 'a\u200bb', '\u3164', 'b\ud800', '\u202ea', 'x'.repeat(101)])(
  '%j is no visible name',
  (name) => {
    expect(isVisibleName(name)).toBe(false);
  },
);
