import { expect, test } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { dataState } from '../../../src/operations/load/data-state.ts';
import type { SnapshotRow } from '../../../src/results/results.ts';
import { testContext } from '../../helpers/postgres/postgres-server.ts';

const ORIGINAL = { index: 2, sanitized: false } as SnapshotRow;
const COPY = { ...ORIGINAL, sanitized: true, sanitized_of: 'aaaa0000', sanitized_at: '2026-01-02T03:04:05.678Z' };

function stateOf(settings: Partial<Settings>, { snapshot = ORIGINAL, original = false } = {}) {
  const { configuration } = testContext({ settings });
  const { sanitized, sanitized_reason, warnings } = dataState(configuration, { target: 'app', snapshot, original });
  return [sanitized, sanitized_reason, warnings.map(({ code }) => code)];
}

const bare = { app: { snapshot: {} } };

test.for([
  ['without a query', { targets: bare }, 'the target has no sanitization query', []],
  [
    'with a global query',
    { targets: bare, override: { san_query: 'SELECT 1' } },
    'override.san_query has not been run on it',
    ['not_sanitized'],
  ],
  [
    'with a query in a file',
    { targets: { app: { sanitize: { query_file: '/q.sql' } } } },
    'targets.app.sanitize.query_file has not been run on it',
    ['not_sanitized'],
  ],
] as const)('an original %s is not sanitized', ([, settings, reason, codes]) => {
  expect(stateOf(settings)).toEqual([false, reason, codes]);
});

test('an original that was asked for is no surprise', () => {
  const settings = { targets: bare, override: { san_query: 'SELECT 1' } };
  expect(stateOf(settings, { original: true })).toEqual([false, 'the original was requested', []]);
});

test('a sanitized copy says of what and when', () => {
  expect(stateOf({ targets: bare }, { snapshot: COPY })).toEqual([
    true,
    'the sanitized copy of aaaa0000 at 2026-01-02T03:04:05Z',
    [],
  ]);
});
