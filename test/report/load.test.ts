import { expect, test } from 'vitest';
import { loadedText, loadPlanLines, loadQuestion } from '../../src/report/load.ts';
import type { LoadPlan, SnapshotRow } from '../../src/results/results.ts';

const snapshot: SnapshotRow = {
  index: 0,
  id: 'k3f9',
  created_at: '2026-01-01T00:00:00Z',
  sanitized: false,
  engine: 'postgres',
  server_version: '15.18',
  schemas: ['public'],
  tables: 25,
  rows: 200_123,
  size_bytes: 45_000_000,
  stored_bytes: 12_000_000,
  where: ['local'],
  note: null,
  signature: { state: 'none', key: null },
};

const plan: LoadPlan = {
  target: 'app',
  snapshot,
  file: null,
  sanitized: false,
  sanitized_reason: 'the target has no sanitization query',
  destination: {
    url: 'postgres://app@db:5432/app_dev',
    host: 'db:5432',
    local: true,
    database: 'app_dev',
    exists: true,
    size_bytes: 1_200_000_000,
    connections: 3,
    server_version: '15.18',
  },
  chosen_by: 'targets.app.snapshot.dst_url',
  strategy: 'swap',
  strategy_reason: 'the role may create databases',
  undo: true,
  schemas: ['public'],
  tables: 25,
  rows: 200_123,
  size_bytes: 45_000_000,
  selection: null,
  jobs: 2,
  unverified_sources: [],
  steps: ['Restore beside', 'Swap'],
  warnings: [{ code: 'connections', message: '3 sessions will be ended' }],
};

test('the plan names server, database, size, open connections, what chose it, the steps and the way back', () => {
  expect(loadPlanLines(plan)).toEqual([
    'Load snapshot 0 of app (k3f9): 25 tables, 200,123 rows, 45.0 MB, schemas public',
    '  data      NOT sanitized: the target has no sanitization query',
    '  database  app_dev on db:5432: 1.2 GB, 3 open connections',
    '  url       postgres://app@db:5432/app_dev',
    '  chosen by targets.app.snapshot.dst_url',
    '  strategy  swap: the role may create databases',
    '  undo      the database as it is now is kept: tool undo app',
    '  signature none',
    '   1. Restore beside',
    '   2. Swap',
    '  warning: 3 sessions will be ended',
  ]);
});

test('the plan says when nothing can be undone', () => {
  expect(loadPlanLines({ ...plan, undo: false })).toContain('  undo      none: what is replaced is gone');
  expect(loadPlanLines({ ...plan, undo: false, strategy: 'script' })).toContain(
    '  undo      none: what the file changes stays changed',
  );
});

test('on this machine a yes is enough; elsewhere the name of the database must be typed', () => {
  expect(loadQuestion(plan)).toMatchObject({ ask: 'Replace database "app_dev" on db:5432?' });
  expect(loadQuestion(plan)).not.toHaveProperty('typed');
  const remote = { ...plan, destination: { ...plan.destination, local: false } };
  expect(loadQuestion(remote)).toMatchObject({ typed: 'app_dev' });
});

test('a database that is not there is created, a file is run', () => {
  const fresh = { ...plan, destination: { ...plan.destination, exists: false } };
  expect(loadQuestion(fresh).ask).toBe('Create database "app_dev" on db:5432?');
  const file = { ...plan, snapshot: null, file: '/tmp/a.sql' };
  expect(loadQuestion(file).ask).toBe('Run /tmp/a.sql on database "app_dev" on db:5432?');
});

test('a finished load says where to, how long the database was away, and how to go back', () => {
  const size = { tables: 25, rows: 200_123, size_bytes: 45_000_000 };
  const result = { ...size, selection: null, swap_ms: 130, undo_database: 'app_dev_old' };
  expect(loadedText(plan, { ...result, snapshot, destination: 'postgres://app@db:5432/app_dev' })).toBe(
    [
      'Loaded snapshot 0 of app into postgres://app@db:5432/app_dev: 25 tables, 200,123 rows, 45.0 MB',
      'The database was away for 130 ms',
      'The database as it was is kept: tool undo app',
    ].join('\n'),
  );
});

test('a load of some tables says what comes, what comes along and why, and what is left empty', () => {
  const selection: LoadPlan['selection'] = {
    chosen: ['public.item', 'public.orders'],
    needed: [
      { table: 'public.customer', needed_by: 'public.orders', why: 'reference' },
      { table: 'public.orders_2026', needed_by: 'public.orders', why: 'part' },
    ],
    empty: Array.from({ length: 8 }, (_, index) => `public.log_${index}`),
  };
  const tables = [
    '  tables    public.item',
    '            public.orders',
    '  needed    public.customer (public.orders refers to it)',
    '            public.orders_2026 (a part of public.orders)',
  ];
  const all = '  empty     public.log_0, public.log_1, public.log_2, public.log_3, public.log_4, public.log_5';
  expect(loadPlanLines({ ...plan, selection }).slice(1, 6)).toEqual([...tables, `${all}, public.log_6, public.log_7`]);
  const size = { tables: 4, rows: 12, size_bytes: 100, swap_ms: null, undo_database: null };
  const text = loadedText(plan, { ...size, selection, snapshot, destination: 'postgres://db/app_dev' });
  expect(text.split('\n').slice(1)).toEqual([...tables, `${all}, and 2 more`]);
  const whole = loadPlanLines({ ...plan, selection: { ...selection, needed: [], empty: [] } });
  expect(whole.slice(2, 4)).toEqual(['            public.orders', '  empty     none']);
});

test('a destination named on the command line must be named again to go back', () => {
  expect(loadPlanLines({ ...plan, chosen_by: '--destdb' })).toContain(
    '  undo      the database as it is now is kept: tool undo app --destdb URL',
  );
});
