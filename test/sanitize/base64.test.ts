import { expect, it } from 'vitest';
import { decodeQuery } from '../../src/sanitize/base64.ts';

const encode = (text: string): string => Buffer.from(text).toString('base64');

it.each([
  'UPDATE users SET email = NULL;',
  '-- why\n/* and who */ DELETE FROM logs',
  "update kunde set straße = 'Äöü 🙈'",
  'DELIMITER //\nSELECT 1//',
  '\n\n  TRUNCATE t;\n',
])('base64 of %j is decoded', (query) => {
  expect(decodeQuery(encode(query))).toBe(query);
});

it('base64 in lines, of the URL alphabet or without padding is decoded', () => {
  const query = "UPDATE people SET note = '???>>>' WHERE id > 1000;";
  const encoded = encode(query);
  expect(decodeQuery(encoded.replaceAll(/(.{20})/g, '$1\n'))).toBe(query);
  expect(decodeQuery(encoded.replaceAll('+', '-').replaceAll('/', '_'))).toBe(query);
  expect(decodeQuery(encoded.replaceAll('=', ''))).toBe(query);
});

it.each([
  { text: 'SELECT1', is: 'a word of the base64 alphabet' },
  { text: 'abcd', is: 'the name of a table' },
  { text: 'VACUUM', is: 'a statement of one word' },
  { text: 'UPDATE users SET email = NULL', is: 'SQL' },
  { text: '', is: 'empty' },
  { text: encode('hello there, this is prose'), is: 'base64 of what is no SQL' },
  { text: encode('SELECTED works'), is: 'base64 of a word that only begins like SQL' },
  { text: Buffer.from([0xff, 0xfe, 0x53, 0x45]).toString('base64'), is: 'base64 of bytes that are no UTF-8' },
  { text: encode('SELECT \u0001;'), is: 'base64 of control characters' },
])('$text is taken as it is: $is', ({ text }) => {
  expect(decodeQuery(text)).toBeNull();
});
