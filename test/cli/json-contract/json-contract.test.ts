import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { breakingChanges } from '../../../.ci/breaking-changes.ts';
import { DOCUMENTS, OTHER_DOCUMENTS } from '../../../src/cli/json-contract/documents.ts';
import { RESULTS } from '../../../src/cli/json-contract/results.ts';
import { eventsSchema } from '../../../src/cli/json-contract/schema.ts';
import { COMMANDS } from '../../../src/commands/registry.ts';
import { EXIT } from '../../../src/runtime/errors.ts';
import { refuseUndocumented } from '../../helpers/json-contract.ts';

const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const schema = eventsSchema();

test('assets/events.schema.json matches its source', () => {
  expect(read('../../../assets/events.schema.json')).toEqual(schema);
});

test('every command has its results in the contract', () => {
  for (const { name, json } of COMMANDS) {
    const known = json === 'events' ? name in RESULTS : name in DOCUMENTS || OTHER_DOCUMENTS.includes(name);
    expect(known, name).toBe(true);
  }
});

test('nothing of the recorded contract was removed or changed', () => {
  expect(breakingChanges(read('recorded.schema.json'), schema)).toEqual([]);
});

test('additions are recorded, so that their removal is noticed', () => {
  expect(read('recorded.schema.json')).toEqual(schema);
});

test('exit codes never change', () => {
  expect(EXIT).toMatchObject({
    ...{ done: 0, failed: 1, usage: 2, configuration: 3, unreachable: 4, refused: 5 },
    ...{ interrupted: 130, terminated: 143 },
  });
});

const object = (properties: object, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const one = (shape: object) => ({ anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: shape } });
const text = { type: 'string' };

test.each([
  ['a new key', object({ x: text }), object({ x: text, y: text }), 0],
  ['a new value', { enum: ['a'] }, { enum: ['a', 'b'] }, 0],
  ['a removed key', object({ x: text, y: text }), object({ x: text }), 1],
  ['another type', object({ x: text }), object({ x: { type: 'number' } }), 1],
  ['a value that may be null', object({ x: text }), object({ x: { anyOf: [text, { type: 'null' }] } }), 1],
  ['a key that may be absent', object({ x: text }), object({ x: text }, []), 1],
  ['a value that is never there', { enum: ['a', 'b'] }, { enum: ['a'] }, 1],
  ['another type of items', { type: 'array', items: text }, { type: 'array', items: { type: 'number' } }, 1],
  ['one form of two', { anyOf: [object({ x: text }), object({ y: text })] }, object({ x: text }), 1],
  ['another shape', { $ref: '#/$defs/b' }, { $ref: '#/$defs/c' }, 1],
])('breaking changes: %s', (...[, before, after, count]) => {
  expect(breakingChanges(one(before), one(after))).toHaveLength(count);
});

test('a removed event is a breaking change', () => {
  expect(breakingChanges(one(text), { anyOf: [], $defs: {} })).toHaveLength(2);
});

const STEP = { event: 'step', step: 'dump', state: 'done', label: 'Dumped' };

test.each([
  ['an unknown key', { ...STEP, more: 1 }],
  ['an unknown value', { ...STEP, state: 'ended' }],
  ['an absent key', { event: 'step', step: 'dump', state: 'done' }],
  ['an unknown event', { event: 'news' }],
  ['the result of another command', { event: 'done', command: 'rm', duration_ms: 1, snapshot: null }],
])('the suites refuse %s', (_, event) => {
  expect(() => refuseUndocumented(['rm', '--json'], JSON.stringify(STEP))).not.toThrow();
  expect(() => refuseUndocumented(['rm', '--json'], JSON.stringify(event))).toThrow('not in assets/events.schema.json');
});
