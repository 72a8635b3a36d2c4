import { expect, test } from 'vitest';
import type { DatabaseUrl } from '../../src/engines/database-url.ts';
import type { Engine } from '../../src/engines/engine.ts';
import type { EngineContext } from '../../src/engines/engine-context.ts';
import { wrapEngine } from '../../src/engines/wrap-engine.ts';

const context = { runner: 'the first' } as unknown as EngineContext;
const url = { display: 'postgres://host/app' } as DatabaseUrl;

/** Answers with the runner and the request that it was given. */
const answer = (given: EngineContext, request: unknown) => Promise.resolve([given.runner, request]);
const engine = {
  id: 'postgres',
  capabilities: {},
  connect: { listTables: answer, probe: answer, parseUrl: (text: string) => text },
  dump: { run: answer },
  restore: {},
  sanitize: {},
  subset: {},
} as unknown as Engine;

test('a call that reaches a database is made through what wraps the engine, with its URL and name', async () => {
  const made: unknown[] = [];
  const wrapped = wrapEngine(engine, ({ context: given, url: { display }, name }, work) => {
    made.push([name, display]);
    return work({ ...given, runner: 'the second' as never });
  });
  const request = { url } as Parameters<Engine['dump']['run']>[1];
  expect(await wrapped.connect.listTables(context, url)).toEqual(['the second', url]);
  expect(await wrapped.dump.run(context, request)).toEqual(['the second', request]);
  expect(made).toEqual([
    ['listTables', url.display],
    ['run', url.display],
  ]);
});

test('what reaches no database is called as it is', async () => {
  const wrapped = wrapEngine(engine, () => Promise.reject(new Error('it was wrapped')));
  expect(wrapped.connect.parseUrl('text')).toBe('text');
  expect(await wrapped.connect.probe(context, { urls: [], sizes: false, take: () => {} })).toBeUndefined();
});
