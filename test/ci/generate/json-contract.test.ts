import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DOCUMENTS, OTHER_DOCUMENTS } from '../../../.ci/generate/json-contract/documents.ts';
import { RESULTS } from '../../../.ci/generate/json-contract/results.ts';
import { eventsSchema } from '../../../.ci/generate/json-contract/schema.ts';
import { COMMANDS } from '../../../src/commands/registry.ts';
import { EXIT } from '../../../src/runtime/errors.ts';
import { assertDocumented } from '../../helpers/documents/json-contract.ts';

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

test('exit codes never change', () => {
  expect(EXIT).toMatchObject({
    ...{ done: 0, failed: 1, usage: 2, configuration: 3, unreachable: 4, refused: 5 },
    ...{ interrupted: 130, terminated: 143 },
  });
});

const STEP = { event: 'step', step: 'dump', state: 'done', label: 'Dumped' };

test.each([
  ['an unknown key', { ...STEP, more: 1 }],
  ['an unknown value', { ...STEP, state: 'ended' }],
  ['an absent key', { event: 'step', step: 'dump', state: 'done' }],
  ['an unknown event', { event: 'news' }],
  ['the result of another command', { event: 'done', command: 'rm', duration_ms: 1, snapshot: null }],
])('the suites refuse %s', (_, event) => {
  expect(() => assertDocumented(['rm', '--json'], JSON.stringify(STEP))).not.toThrow();
  expect(() => assertDocumented(['rm', '--json'], JSON.stringify(event))).toThrow('not in assets/events.schema.json');
});
