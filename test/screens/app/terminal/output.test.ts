import { expect, test } from 'vitest';
import { shortBlanks } from '../../../../screens/app/terminal/output.ts';

const BLANKS = ' '.repeat(20);

test.each([
  [`a${BLANKS}b`, 'a\x1b[20X\x1b[20Cb'],
  ['a           b', 'a           b'],
  [`\x1b[48;5;237m${BLANKS}\x1b[49m${BLANKS}`, `\x1b[48;5;237m${BLANKS}\x1b[49m\x1b[20X\x1b[20C`],
  [`\x1b[7m${BLANKS}\x1b[27m`, `\x1b[7m${BLANKS}\x1b[27m`],
  [`\x1b[46m\x1b[30m${BLANKS}\x1b[39m\x1b[49m`, `\x1b[46m\x1b[30m${BLANKS}\x1b[39m\x1b[49m`],
  [`\x1b[38;5;240m${BLANKS}`, '\x1b[38;5;240m\x1b[20X\x1b[20C'],
])('blanks are erased where there is no background: %j', (text, short) => {
  expect(shortBlanks(text)).toBe(short);
});
