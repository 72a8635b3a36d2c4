import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readPlainYaml } from '../../../src/config/yaml/plain-yaml.ts';
import { parsedSource, parseYaml } from '../../../src/config/yaml/yaml-source.ts';
import { fc } from '../../helpers/fast-check.ts';
import { mutations } from '../../helpers/mutations.ts';

const EXAMPLE = readFileSync(new URL('../../../tool.example.yml', import.meta.url), 'utf8');

test('the example and the file of config init need no parser', () => {
  expect(readPlainYaml(EXAMPLE)).toMatchObject({ targets: { app: { sso_groups: ['developers'] } } });
  expect(readPlainYaml('# nothing else\nsecret_key: "0"\n# targets:\n')).toEqual({ secret_key: '0' });
});

test.for([
  'a:\n- b: 1\n  c: [x, y z, 3]\n- d\ne: null',
  "a: 'it''s'  # said\nb: \"#1\" # one\nc: http://h:1/#x",
  'a: 0x10\nb: 1e3\nc: .5\nd: 007\ne: 12345678901234567890\nf: 2026-01-01\ng: 1_000\nh: 0123abc',
  'a:\nb:\n  - 1\n  - true\nc:\n   d: x\n   e: ~/.tool\n',
])('what is read without the parser is what the parser reads: %j', (text) => {
  const tree = readPlainYaml(text);
  if (tree !== null) expect(tree).toEqual(parsedSource(text).tree);
  expect(parsedSource(text).flaws).toEqual([]);
});

test('a mutated configuration is read as by the parser, or left to it', () => {
  let plain = 0;
  fc.assert(
    fc.property(fc.oneof(mutations(EXAMPLE), mutations(SMALL), yamlLines), (text) => {
      const tree = readPlainYaml(text);
      if (tree === null) return;
      plain += 1;
      const parsed = parsedSource(text);
      expect(parsed.flaws).toEqual([]);
      expect(parsed.tree).toEqual(tree);
      expect(parseYaml(text).locate([], 'value')).toEqual(parsed.locate([], 'value'));
    }),
    { numRuns: process.env.TEST_FULL === '1' ? 20_000 : 2_000 },
  );
  expect(plain).toBeGreaterThan(200);
});

const SMALL = `a: 1 # one
b:
  - c: 'x'
    d: [p, q]
  - e
f:
- "g"
- h: i
  j:
    k: true
`;

/** Lines that are YAML more often than chance would have it. */
const yamlLines = fc
  .array(
    fc.tuple(
      fc.constantFrom('', '  ', '    ', '- ', '  - ', '   '),
      fc.constantFrom('a:', 'b:', 'c:', '', '"d":', 'null:', '<<:', 'a b:', '-'),
      fc.oneof(
        fc.constantFrom(
          '',
          ' ',
          ' 1',
          ' x',
          " 'y'",
          ' "z"',
          ' [1, a]',
          ' {}',
          ' # c',
          ' x # c',
          ' x: y',
          ' &a 1',
          ' *a',
        ),
        fc.string({ unit: fc.constantFrom(...' #:,-\'"[]{}&*!|>%@`?~+._0179aexfntrulsie\\/é\u00a0'), maxLength: 8 }),
      ),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((lines) => lines.map((parts) => parts.join('')).join('\n'));
