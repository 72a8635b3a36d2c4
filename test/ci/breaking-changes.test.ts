import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { breakingChanges, type ContractDocument } from '../../.ci/breaking-changes.ts';
import { itIf } from '../helpers/it-if.ts';

/** The last tag, or the commit that began the last release of the changelog; empty where the history lacks both. */
function lastRelease(): string {
  const version = /^## (\d\S*)/m.exec(readFileSync('CHANGELOG.md', 'utf8'))?.[1];
  const byTag = git('describe', '--tags', '--abbrev=0');
  return byTag || git('log', '-1', '--format=%h', `-S## ${version}`, '--', 'CHANGELOG.md');
}

/** The output of git, empty when it fails. */
function git(...words: string[]): string {
  try {
    return execFileSync('git', words, { encoding: 'utf8', stdio: 'pipe', maxBuffer: 2 ** 26 }).trim();
  } catch {
    return '';
  }
}

const release = lastRelease();

describe.each(['assets/events.schema.json', 'assets/openapi.json'])('%s', (path) => {
  const present: ContractDocument = JSON.parse(readFileSync(path, 'utf8'));
  const released = release && git('show', `${release}:${path}`);

  itIf(released || !release).skipIf(!release)(
    `keeps the contract of the last release (${release || 'not in this history'})`,
    () => {
      expect(breakingChanges(JSON.parse(released), present)).toEqual([]);
    },
  );

  test('is compatible with itself, and without one of its parts no longer', () => {
    expect(breakingChanges(present, present)).toEqual([]);
    for (const section of ['paths', '$defs'] as const) {
      for (const key of Object.keys(present[section] ?? {})) {
        const { [key]: _, ...others } = present[section] ?? {};
        expect(breakingChanges(present, { ...present, [section]: others }), key).not.toEqual([]);
      }
    }
  });
});

const text = { type: 'string' };
const object = (properties: object, required: string[] = [], rest = {}) => ({
  type: 'object',
  properties,
  required,
  ...rest,
});
const orNull = (...anyOf: object[]) => ({ anyOf: [...anyOf, { type: 'null' }] });
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const route = (more: object) => ({ paths: { '/a': { post: { responses: { 200: {} }, ...more } } } });
const body = (schema: object) => route({ requestBody: json(schema) });
const answer = (schema: object) => route({ responses: { 200: json(schema) } });
const query = (schema: object, required = false) => route({ parameters: [{ name: 'q', required, schema }] });
const event = (schema: object) => ({ anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: schema } });

test.each([
  ['a new route', { paths: {} }, route({ requestBody: { required: true, ...json(text) } }), false],
  ['a removed route', route({}), { paths: {} }, true],
  ['a new field of a body', body(object({ x: text })), body(object({ x: text, y: { ...text, maxLength: 9 } })), false],
  ['a removed field of a body', body(object({ x: text, y: text })), body(object({ x: text })), true],
  ['a newly required field', body(object({ x: text })), body(object({ x: text }, ['x'])), true],
  ['a field no longer required', body(object({ x: text }, ['x'])), body(object({ x: text })), false],
  ['another type', body(object({ x: text })), body(object({ x: { type: 'number' } })), true],
  ['a wider type', body({ type: 'integer' }), body({ type: 'number' }), false],
  ['any type', body({ type: 'integer' }), body({}), false],
  ['a type that may no longer be null', body(orNull(text)), body(text), true],
  ['a type that may be null', body(text), body(orNull(text)), false],
  ['one form of two', body({ oneOf: [object({}), text] }), body(text), true],
  ['a value less', body({ enum: ['a', 'b'] }), body({ enum: ['a'] }), true],
  ['a value more', body({ enum: ['a'] }), body({ enum: ['a', 'b'] }), false],
  ['certain values only', body(text), body({ ...text, enum: ['a'] }), true],
  ['any value', body({ ...text, enum: ['a'] }), body(text), false],
  ['a lower maximum', query({ type: 'integer', maximum: 9 }), query({ type: 'integer', maximum: 8 }), true],
  ['a higher maximum', query({ type: 'integer', maximum: 8 }), query({ type: 'integer', maximum: 9 }), false],
  ['a higher minimum', query({ type: 'integer', minimum: 1 }), query({ type: 'integer', minimum: 2 }), true],
  ['a new pattern', query(text), query({ ...text, pattern: '^a' }), true],
  ['no other keys', body(object({})), body(object({}, [], { additionalProperties: false })), true],
  [
    'items of another type',
    body({ type: 'array', items: text }),
    body({ type: 'array', items: { type: 'null' } }),
    true,
  ],
  ['items of one type', body({ type: 'array' }), body({ type: 'array', items: text }), true],
  ['a removed parameter', query(text), route({}), true],
  ['a newly required parameter', route({}), query(text, true), true],
  ['a new parameter', route({}), query(text), false],
  ['a newly required body', route({}), route({ requestBody: { required: true, ...json(text) } }), true],
  ['a token', route({ security: [] }), route({ security: [{}] }), true],
  ['no answer', answer(text), route({ responses: {} }), true],
  ['a removed field of an answer', answer(object({ x: text }, ['x'])), answer(object({})), true],
  ['a field of an answer that may be absent', answer(object({ x: text }, ['x'])), answer(object({ x: text })), true],
  ['a new field of an answer', answer(object({})), answer(object({ x: orNull(text) })), false],
  ['a form less of an answer', answer({ oneOf: [text, object({ x: text })] }), answer(text), true],
  ['a new key', event(object({ x: text })), event(object({ x: text, y: text }, ['y'])), false],
  ['a new value', event({ enum: ['a'] }), event({ enum: ['a', 'b'] }), false],
  ['a removed key', event(object({ x: text, y: text })), event(object({ x: text })), true],
  ['another type of a key', event(object({ x: text })), event(object({ x: { type: 'number' } })), true],
  ['a value that may be null', event(object({ x: text })), event(object({ x: orNull(text) })), true],
  ['a value that is never there', event({ enum: ['a', 'b'] }), event({ enum: ['a'] }), true],
  ['another value', event({ const: 'a' }), event({ const: 'b' }), true],
  ['one form of two', event({ anyOf: [object({ x: text }), object({ y: text })] }), event(object({ x: text })), true],
  ['another shape', event({ $ref: '#/$defs/b' }), event({ $ref: '#/$defs/c' }), true],
  ['a removed event', event(text), { anyOf: [], $defs: {} }, true],
])('breaking changes: %s', (...[, before, after, breaks]) => {
  expect(breakingChanges(before as ContractDocument, after as ContractDocument).length > 0).toBe(breaks);
});
