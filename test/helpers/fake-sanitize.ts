import type { PlannedSanitize } from '../../src/operations/sanitize/sanitize.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import type { Coverage } from '../../src/results/sanitize-results.ts';
import type { FakeWorld } from './fake-world.ts';

export function fakeSanitize(
  world: FakeWorld,
  { target, snapshot }: { target: string; snapshot: SnapshotRow | null },
): PlannedSanitize {
  const query = { chosen_by: `targets.${target}.sanitize.query_file`, file: world.queryFile, base64: false };
  return {
    request: { target },
    plan: {
      target,
      snapshot,
      query: { ...query, statements: [{ number: 1, line: 1, text: 'TRUNCATE login' }] },
      destination: null,
      where: 'a throw-away PostgreSQL server',
      strict: false,
      undo: false,
      unverified_sources: [],
      steps: ['Restore the original', 'Run the statement of the query there'],
      warnings: [],
    },
    planned_at: '2026-11-21T03:00:00.000Z',
    engine: 'postgres',
    keep: [],
  };
}

export function fakeCoverage(): Coverage {
  const samples = ['a**@****.*******.***'];
  return {
    tables: [
      { name: 'public.person', state: 'changed', rows_before: 500, rows_after: 500 },
      { name: 'public.login', state: 'emptied', rows_before: 100, rows_after: 0 },
    ],
    findings: [
      {
        ...{ column: 'public.person.email', kind: 'email', meaning: 'an e-mail address', by: 'values' },
        ...{ state: 'unchanged', generated: false, values: 500, samples, samples_after: samples },
      },
    ],
    acknowledged: [{ column: 'public.person.city', kind: 'address', reason: 'cities are large' }],
    changed: [
      {
        ...{ column: 'public.person.first_name', kind: 'name', meaning: 'a name of a person' },
        ...{ samples: ['A**'], samples_after: ['P***** *'] },
      },
    ],
  };
}
