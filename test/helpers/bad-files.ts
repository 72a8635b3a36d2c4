import { gzipSync } from 'node:zlib';

const MB = 1_000_000;
/** The one line that every configuration needs. */
const KEY = `secret_key: "${'0'.repeat(32)}"\n`;

/** What somebody or something may have written: its name, its content, and what is said first about it. */
export const BAD_FILES: [string, string | Uint8Array, string][] = [
  ['a tab', 'targets:\n\ta: 1\n', '2:1 yaml_syntax not valid YAML: Tabs are not allowed as indentation'],
  ['NUL', `${KEY}env: a\0b\n`, '2:7 yaml_syntax the control character U+0000 is not allowed'],
  ['Latin-1', Buffer.from('a: \xe9\n', 'latin1'), '1:4 yaml_syntax not UTF-8'],
  ['UTF-16', Buffer.from('\ufeffdebug: true', 'utf16le'), '1:1 yaml_syntax not UTF-8'],
  ['a word', 'hello', '1:1 wrong_type the configuration must be a map of keys'],
  ['two documents', 'debug: true\n---\n', '2:1 yaml_syntax not valid YAML: a configuration is one document'],
  ['an open quote', 'env: "x\n', '2:1 yaml_syntax not valid YAML: a " is not closed'],
  ['an alias to itself', 'a: &a [*a]', '1:8 yaml_syntax not valid YAML: this alias has no anchor before it'],
  ['a bomb of aliases', bomb(), '5:8 yaml_syntax aliases refer to more than 10000 values'],
  ['a million brackets', '['.repeat(MB), '1:121 yaml_syntax nested deeper than 40 levels'],
  ['a million dashes', '- '.repeat(MB / 2), '1:240 yaml_syntax nested deeper than 40 levels'],
  ['a deep staircase', staircase(1300), '120:121 yaml_syntax nested deeper than 40 levels'],
  ['a million lines', '\n'.repeat(MB), 'file_too_large'],
  ['a million keys', Array.from({ length: MB / 8 }, (_, i) => `k${i}: 1`).join('\n'), 'file_too_large'],
  ['the same key again and again', 'a: 1\n'.repeat(MB / 5), 'file_too_large'],
  ['30,000 unknown keys', Array.from({ length: 30_000 }, (_, i) => `k${i}: 1`).join('\n'), '1:1 unknown_key'],
  ['a megabyte without end', `"${'x'.repeat(MB)}`, 'yaml_syntax not valid YAML: a " is not closed'],
  ['a tab behind a byte order mark and Windows', '\ufeffdebug: true\r\ntargets:\r\n\ta: 1\r\n', '3:1 yaml_syntax'],
  ['a compressed file', gzipSync('x'.repeat(MB)), '1:2 yaml_syntax not UTF-8'],
  ['a million NULs', '\0'.repeat(MB), '1:1 yaml_syntax the control character U+0000 is not allowed'],
  ['an escape sequence', `${KEY}env: \x1b[2J\n`, '2:6 yaml_syntax the control character U+001B is not allowed'],
  ['a megabyte on one line', `env: ${'x '.repeat(MB / 2)}\n`, '1:6 wrong_value env must be one of'],
  ['a megabyte in a key', `${'k'.repeat(MB)}: 1\n`, '1:1 yaml_syntax'],
  [
    'a megabyte of text',
    `${KEY}env: |\n${`  ${'x'.repeat(98)}\n`.repeat(MB / 100)}`,
    '2:6 wrong_value env must be one of',
  ],
  ['a million open braces', '{a: '.repeat(MB / 4), 'yaml_syntax nested deeper than 40 levels'],
  ['a million question marks', '? '.repeat(MB / 2), 'yaml_syntax nested deeper than 40 levels'],
  ['a million anchors', Array.from({ length: MB / 14 }, (_, i) => `- &a${i} x`).join('\n'), 'file_too_large'],
  ['a bomb of merge keys', mergeBomb(), 'yaml_syntax aliases refer to more than 10000 values'],
  ['a million open quotes', '"\n'.repeat(MB / 2), 'file_too_large'],
  ['many URLs without an end', `name: ${'://a:'.repeat(3000)}\n`, '1:7 yaml_syntax'],
  ['many templates without an end', `name: http://a:${'{{x}}'.repeat(2000)}\n`, '1:1 unknown_key unknown key name'],
  ['many passwords', `x: ${'pass'.repeat(4000)}\n`, '1:1 unknown_key unknown key x'],
  ['five megabytes', 'a'.repeat(5 * MB), '1:1 file_too_large larger than 4 MB, which no configuration is'],
];

/** Thirty maps, each with all that the two before have. */
function mergeBomb(): string {
  const map = (i: number): string =>
    `m${i}: &m${i} {k${i}: 1${i > 1 ? `, a: {<<: [*m${i - 1}, *m${i - 2}]}, b: *m${i - 1}` : ''}}`;
  return Array.from({ length: 30 }, (_, index) => map(index)).join('\n');
}

/** Ten lists, each of nine times the one before. */
function bomb(): string {
  const names = 'abcdefghij'.split('');
  return names
    .map((name, index) => `${name}: &${name} [${Array(9).fill(index === 0 ? 'x' : `*${names[index - 1]}`)}]`)
    .join('\n');
}

function staircase(steps: number): string {
  return Array.from({ length: steps }, (_, index) => `${' '.repeat(index)}a:`).join('\n');
}
