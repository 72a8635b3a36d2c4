import { expect, test } from 'vitest';
import { createStyle } from '../../src/cli/printers/style.ts';
import { printable, printableJson, printableLines, printableStyled } from '../../src/text/printable.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const STEERING = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const everything = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join('');

test('a printable line holds no control, separator or bidirectional character', () => {
  expect(printable(everything)).not.toMatch(STEERING);
  expect(printable('Ünïcode שלום 表 👩‍👩‍👧')).toBe('Ünïcode שלום 表 👩‍👩‍👧');
});

test('printable lines keep their line feeds only', () => {
  expect(printableLines('one\r\ntwo\x1b[2J\nthree\rfour')).toBe('one\ntwo [2J\nthree four');
});

test('styled text keeps the colours of the program and nothing else', () => {
  const { paint } = createStyle({ color: true, unicode: true });
  const styled = `${paint('bad', 'red\x1b]0;owned\x07')} \x1b[2J \x9b31m`;
  expect(printableStyled(styled)).toBe('\x1b[31mred ]0;owned \x1b[39m  [2J  31m');
});

test('JSON escapes more than JSON.stringify, and parses to the same value', () => {
  const json = printableJson(JSON.stringify({ everything }));
  expect(json).not.toMatch(STEERING);
  expect(JSON.parse(json)).toEqual({ everything });
});
