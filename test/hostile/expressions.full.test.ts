import { globSync, readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';
import { checkSync } from 'recheck';
import { expect, it } from 'vitest';

/** Files whose expressions read short texts only. */
const FILES_BOUNDED = new Map([
  ['src/engines/postgres/connection/url.ts', 'a URL of the configuration'],
  ['src/engines/mysql/connection/url.ts', 'a URL of the configuration'],
  ['src/config/secrets/hide-secrets.ts', 'a line of the configuration'],
  ['src/engines/mysql/catalog/definitions/events.ts', 'the name of an event'],
  ['src/engines/mysql/sanitize/statements.ts', 'a query of the configuration'],
]);

/**
 * Expressions whose time may grow with the square of a text, and why their texts are short. None of these texts is from
 * a database, a snapshot, a bucket or a hub.
 */
const BOUNDED: Record<string, string> = {
  '/\\/+$/': 'an address of the configuration',
  '/^\\/+|\\/+$/g': 'a prefix of the configuration',
  '/\\n*$/': 'a generated file',
  '/<(.+)>/': 'a command of the program',
  '/<(.+?)>/g': 'a command of the program',
  "/, \\w+( '.*')?$/": 'the message of an error of Node',
  '/[?#].*$/': 'the address of a remote, cut by git',
  '/^_+|_+$/g': 'the name of a git branch',
  '/\\.tool-.*$/': 'the name of a database',
  '/ on .*$/': 'a privilege',
  '/\\0+$/': 'a sealed name of a fixed length',
  '/\\s+\\|\\s+/g': 'a list of the program',
  '/(?:\\D*\\d){9}/': 'a value that has the form of a phone number',
  '/\\/V([\\d._]+)__[^/]*$/': 'the path of a file',
  '/\\/(\\d+)_[^/]*\\.up\\.[^/]*$/': 'the path of a file',
  '/:\\/\\/.*@/s': 'a URL of the configuration',
};

it('no expression is worse than linear over a text from outside', { timeout: 120_000 }, () => {
  const found = expressions().filter(({ file, expression }) => !(expression in BOUNDED) && !FILES_BOUNDED.has(file));
  expect(found.length).toBeGreaterThan(100);
  const slow = found.filter(({ pattern, flags }) => {
    // Expressions with look-around or names of groups twice are not analysed, and no other flag changes the time.
    const result = checkSync(pattern, flags.replaceAll(/[dv]/g, ''), { checker: 'automaton', timeout: 1000 });
    return result.status === 'vulnerable';
  });
  expect(slow.map(({ file, expression }) => `${file} ${expression}`)).toEqual([]);
});

it('finds an exponential expression, as the check above does', () => {
  const result = checkSync('^(?:a|a)*$', '', { checker: 'automaton', timeout: 1000 });
  expect(result).toMatchObject({ status: 'vulnerable', complexity: { type: 'exponential' } });
});

interface Expression {
  file: string;
  pattern: string;
  flags: string;
  expression: string;
}

/** The literals of the product with at least one repetition without a bound. */
function expressions(): Expression[] {
  return globSync('{src,hub}/**/*.ts').flatMap((file) =>
    literalsIn(parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript', target: 'es2024' }))
      .filter(({ pattern }) => /[*+]|,\}/.test(pattern))
      .map(({ pattern, flags }) => ({ file, pattern, flags, expression: `/${pattern}/${flags}` })),
  );
}

function literalsIn(node: unknown): { pattern: string; flags: string }[] {
  if (typeof node !== 'object' || node === null) return [];
  if ('type' in node && node.type === 'RegExpLiteral') return [node as never];
  return Object.values(node).flatMap(literalsIn);
}
