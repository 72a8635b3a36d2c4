import { fc } from './fast-check.ts';

/** What is likely to mean something to YAML, to templates, to the schema or to a terminal. */
const ODD = [
  ...[
    '\t',
    '\0',
    '\r\n',
    '\n',
    ' ',
    '  ',
    '\ufeff',
    '\u00a0',
    '\u2028',
    '\u202e',
    '\ud800',
    '👩‍👩‍👧',
    'é',
    '\x1b[2J',
    '\x7f',
  ],
  ...[
    '{{',
    '}}',
    '{{`X` | env}}',
    '{{env "X"}}',
    '&a ',
    '*a',
    '<<: *a',
    '!!binary ',
    '!x ',
    '|\n',
    '>-\n',
    '---\n',
    '...\n',
  ],
  ...['[', ']', '{', '}', '- ', '? ', ': ', '"', "'", '# ', '%YAML 1.1\n', '`', '@', ',', '\\', '\\u0000', '$aes$00'],
  ...[
    'null',
    '~',
    'true',
    '1e9',
    '-1',
    '0x1f',
    '.nan',
    '.inf',
    '[]',
    '{}',
    '[[[[[[[[',
    '__proto__',
    'constructor',
    'x',
  ],
];

/** The text after one to six of the things that happen to files: lines lost, doubled and swapped, characters put in. */
export function mutations(text: string): fc.Arbitrary<string> {
  const lines = text.split('\n').length;
  const place = fc.nat(lines);
  const put = fc.oneof(fc.constantFrom(...ODD), fc.string({ unit: 'grapheme', maxLength: 12 }));
  const change = fc.oneof(
    fc.record({ at: place }).map(({ at }) => onLines((all) => all.toSpliced(at, 1))),
    fc.record({ at: place }).map(({ at }) => onLines((all) => all.toSpliced(at, 0, all[at] ?? ''))),
    fc
      .record({ at: place, to: place })
      .map(({ at, to }) =>
        onLines((all) =>
          all.with(at % all.length, all[to % all.length] ?? '').with(to % all.length, all[at % all.length] ?? ''),
        ),
      ),
    fc
      .record({ at: place, by: fc.integer({ min: -3, max: 9 }) })
      .map(({ at, by }) => onLine(at, (line) => indented(line, by))),
    fc
      .record({ at: place, put })
      .map(({ at, put: value }) => onLine(at, (line) => line.replace(/:.*$/s, () => `: ${value}`))),
    fc.record({ at: place, put }).map(({ at, put: key }) => onLine(at, (line) => line.replace(/[\w$-]+/, () => key))),
    fc.record({ at: fc.nat(text.length), cut: fc.nat(12), put }).map(
      ({ at, cut, put: middle }) =>
        (whole: string) =>
          whole.slice(0, at) + middle + whole.slice(at + cut),
    ),
    fc
      .record({ at: place, levels: fc.integer({ min: 2, max: 60 }) })
      .map(({ at, levels }) => onLine(at, (line) => `${line}${'['.repeat(levels)}`)),
  );
  return fc
    .array(change, { minLength: 1, maxLength: 6 })
    .map((changes) => changes.reduce((changed, next) => next(changed), text));
}

type Change = (text: string) => string;

function onLines(change: (lines: string[]) => string[]): Change {
  return (text) => change(text.split('\n')).join('\n');
}

function onLine(at: number, change: (line: string) => string): Change {
  return onLines((lines) => lines.map((line, index) => (index === at % lines.length ? change(line) : line)));
}

function indented(line: string, by: number): string {
  return by < 0 ? line.replace(new RegExp(`^ {0,${-by}}`), '') : ' '.repeat(by) + line;
}
