import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { breakingRoutes } from '../../../.ci/breaking-routes.ts';
import { openApiDocument } from '../../../src/cloud/contract/openapi.ts';

const recorded = JSON.parse(readFileSync(new URL('recorded.openapi.json', import.meta.url), 'utf8'));
const document = JSON.parse(JSON.stringify(openApiDocument()));

test('no route of the recorded contract of the hub was removed or narrowed', () => {
  expect(breakingRoutes(recorded, document)).toEqual([]);
});

test('additions to the routes are recorded, so that their removal is noticed', () => {
  expect(recorded).toEqual(document);
});

test.each(Object.entries<object>(recorded.paths))('the removal of %s is a breaking change', (path, methods) => {
  const { [path]: _, ...paths } = recorded.paths;
  expect(breakingRoutes(recorded, { ...recorded, paths })).toHaveLength(Object.keys(methods).length);
});

const text = { type: 'string' };
const object = (properties: object, required: string[] = [], rest = {}) => ({
  type: 'object',
  properties,
  required,
  ...rest,
});
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const route = (more: object) => ({ paths: { '/a': { post: { security: [{}], responses: { 200: {} }, ...more } } } });
const body = (schema: object) => route({ requestBody: json(schema) });
const answer = (schema: object) => route({ responses: { 200: json(schema) } });
const query = (schema: object, required = false) =>
  route({ parameters: [{ name: 'q', in: 'query', required, schema }] });

test.each([
  ['a new route', { paths: {} }, route({}), 0],
  ['a new field of a body', body(object({ x: text })), body(object({ x: text, y: text })), 0],
  ['a removed field of a body', body(object({ x: text, y: text })), body(object({ x: text })), 1],
  ['a newly required field', body(object({ x: text })), body(object({ x: text }, ['x'])), 1],
  ['a field no longer required', body(object({ x: text }, ['x'])), body(object({ x: text })), 0],
  ['another type', body(object({ x: text })), body(object({ x: { type: 'number' } })), 1],
  ['a wider type', body({ type: 'integer' }), body({ type: 'number' }), 0],
  ['a type that may no longer be null', body({ anyOf: [text, { type: 'null' }] }), body(text), 1],
  ['a type that may be null', body(text), body({ anyOf: [text, { type: 'null' }] }), 0],
  ['one form of two', body({ oneOf: [object({}), text] }), body(text), 1],
  ['a value less', body({ enum: ['a', 'b'] }), body({ enum: ['a'] }), 1],
  ['a value more', body({ enum: ['a'] }), body({ enum: ['a', 'b'] }), 0],
  ['certain values only', body(text), body({ ...text, enum: ['a'] }), 1],
  ['a lower maximum', query({ type: 'integer', maximum: 9 }), query({ type: 'integer', maximum: 8 }), 1],
  ['a higher maximum', query({ type: 'integer', maximum: 8 }), query({ type: 'integer', maximum: 9 }), 0],
  ['a higher minimum', query({ type: 'integer', minimum: 1 }), query({ type: 'integer', minimum: 2 }), 1],
  ['a new pattern', query(text), query({ ...text, pattern: '^a' }), 1],
  ['no other keys', body(object({})), body(object({}, [], { additionalProperties: false })), 1],
  ['items of another type', body({ type: 'array', items: text }), body({ type: 'array', items: { type: 'null' } }), 1],
  ['a removed parameter', query(text), route({}), 1],
  ['a newly required parameter', route({}), query(text, true), 1],
  ['a new parameter', route({}), query(text), 0],
  ['a newly required body', route({}), route({ requestBody: { required: true, ...json(text) } }), 1],
  ['a token', route({ security: [] }), route({}), 1],
  ['no answer', answer(text), route({ responses: {} }), 1],
  ['a removed field of an answer', answer(object({ x: text }, ['x'])), answer(object({})), 1],
  ['a field of an answer that may be absent', answer(object({ x: text }, ['x'])), answer(object({ x: text })), 1],
  ['a new field of an answer', answer(object({})), answer(object({ x: text })), 0],
  ['a form less of an answer', answer({ oneOf: [text, object({ x: text })] }), answer(text), 1],
])('breaking changes of routes: %s', (...[, before, after, count]) => {
  expect(breakingRoutes(before as object, after as object)).toHaveLength(count);
});
