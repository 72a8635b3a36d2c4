import { expect, it } from 'vitest';
import { compareColumns } from '../../src/sanitize/coverage.ts';
import type { Suspicion } from '../../src/sanitize/detector/detect.ts';

const samples = Array.from({ length: 100 }, (_, id) => `p${id}@mail.example.org`);

function suspicion(kind: Suspicion['kind']): Suspicion {
  const facts = {
    schema: 'public',
    table: 'person',
    column: 'data',
    type: 'text',
    generated: false,
    samples,
    sampled: 100,
    distinct: 100,
  };
  return { facts: { ...facts, sampleHashes: samples }, kind, by: 'values' } as unknown as Suspicion;
}

function stateWith(kind: Suspicion['kind'], surviving: number): string {
  const name = 'public.person.data';
  const digest = (digest: string) => new Map([[name, { values: 100, digest, surviving }]]) as never;
  const compared = compareColumns({
    suspicions: [suspicion(kind)],
    ...{ before: digest('before'), after: digest('after'), samplesAfter: new Map(), keep: [] },
  });
  return compared.findings[0]?.state ?? (compared.changed.length > 0 ? 'changed' : 'none');
}

it('one sampled address that remains of a hundred makes a column partly unchanged', () => {
  expect(stateWith('email', 1)).toBe('partly');
  expect(stateWith('email', 0)).toBe('changed');
});

it('names that remain may be new ones by chance', () => {
  expect(stateWith('name', 1)).toBe('changed');
});

it('a column without values before the query is neither changed nor a finding', () => {
  const name = 'public.person.data';
  const digest = (values: number) => new Map([[name, { values, digest: String(values), surviving: 0 }]]);
  const compared = compareColumns({
    suspicions: [suspicion('email')],
    ...{ before: digest(0), after: digest(7), samplesAfter: new Map(), keep: [] },
  });
  expect(compared).toEqual({ findings: [], acknowledged: [], changed: [] });
});
