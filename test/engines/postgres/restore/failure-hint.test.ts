import { expect, test } from 'vitest';
import type { ArchiveDetails } from '../../../../src/engines/postgres/dump/archive.ts';
import { failureHint } from '../../../../src/engines/postgres/restore/failure-hint.ts';

const LINES = ['ERROR:  function g() does not exist', 'CONTEXT:  SQL function "f" during inlining'];

function hintFor(name: string): string {
  const inventory = { objects: { function: [name] }, sequences: [] };
  const schemas = [{ oid: 1, name: 'public' }];
  return failureHint(LINES, { inventory, settings: [], schemas } as Partial<ArchiveDetails> as ArchiveDetails);
}

test('the hint of a failed restore repeats no function of a snapshot that is more than a plain name', () => {
  const statement = 'ALTER FUNCTION public.f(integer, character varying[]) SET search_path = "public", pg_temp;';
  expect(hintFor('public.f(integer, character varying[])')).toContain(statement);
  for (const name of [
    'public.x(); DROP DATABASE shop; --.f()',
    'public.f() RESET ALL; DROP DATABASE shop; --(integer)',
    'public.f(integer); DROP DATABASE shop; --)',
    'public; DROP DATABASE shop; --.f(integer)',
    "public.f(integer) SET search_path = 'a'; --()",
  ]) {
    expect(hintFor(name), name).toBe('');
  }
});
