import { expect, test } from 'vitest';
import { isMet, parseExpectation } from '../../../../src/operations/snapshots/verify/expectation.ts';

test.each([
  ['> 1000', '1001', true],
  ['> 1000', '1000', false],
  ['>=1000', '1000', true],
  ['< 2.5', '2.49', true],
  ['<= -1', '-1', true],
  ['= 7', '7.0', true],
  ['7', '7', true],
  ['!= 7', '8', true],
  ['> 9007199254740992', '9007199254740993', true],
  ['= 0.1', '0.10000000000000000001', false],
  ['< -1.5', '-1.50', false],
  ['>= +2', '2', true],
  ['= open', 'open', true],
  ['!= open', 'closed', true],
  ['> 5', 'many', false],
  ['= 5', null, false],
  ['!= 5', null, false],
])('%s with the value %s is met: %s', (text, value, met) => {
  expect(isMet(value, parseExpectation(text))).toBe(met);
});

test.each(['', '>', '> many', '<= '])('"%s" is no comparison', (text) => {
  expect(() => parseExpectation(text)).toThrow('--expect must be a comparison');
});
