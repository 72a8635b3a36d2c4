import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PROBLEMS } from '../../src/cloud/contract/problems.ts';

const root = new URL('../..', import.meta.url).pathname;
const sources = globSync(['src/**/*.ts', 'hub/**/*.ts', 'screens/**/*.{ts,tsx}'], { cwd: root })
  .map((file) => readFileSync(`${root}/${file}`, 'utf8'))
  .join('\n');
const page = readFileSync(`${root}/docs/errors.md`, 'utf8');
const documented = Array.from(page.matchAll(/^- `(\w+)`/gm), ([, code]) => code ?? '');

test('every code of an error or a warning is in docs/errors.md', () => {
  const used = new Set(Array.from(sources.matchAll(/(?:\bcode: |new Problem\()'(\w+)'/g), ([, code]) => code));
  expect(used.size).toBeGreaterThan(5);
  // Risks of a migration are no errors: they have a page of their own.
  const rules = readFileSync(`${root}/docs/rehearsal-rules.md`, 'utf8');
  const known = [...documented, ...Array.from(rules.matchAll(/^- \[`(\w+)`\]/gm), ([, code]) => code)];
  expect([...used].filter((code) => !known.includes(code))).toEqual([]);
});

test('every code of an answer of the hub is in docs/errors.md', () => {
  expect(Object.keys(PROBLEMS).filter((code) => !documented.includes(code))).toEqual([]);
});

test('every code in docs/errors.md is one that the program uses', () => {
  expect(documented.filter((code) => !sources.includes(`'${code}'`) && !(code in PROBLEMS))).toEqual([]);
});

test('no list of docs/errors.md has a code twice', () => {
  const twice = page.split(/\n(?!- )/).flatMap((list) => {
    const codes = [...list.matchAll(/^- `(\w+)`/gm)].map(([, code]) => code);
    return codes.filter((code, index) => codes.indexOf(code) < index);
  });
  expect(twice).toEqual([]);
});
