import { expect, test } from 'vitest';
import { questionLines } from '../../src/cli/printers/question.ts';
import { loadQuestion, loadSummary } from '../../src/operations/load/text.ts';
import { undoQuestion } from '../../src/operations/undo/text.ts';
import { detailsWithKey, summaryText } from '../../src/presentation/shapes/summary.ts';
import type { LoadPlan } from '../../src/results/load-results.ts';
import type { SnapshotRow } from '../../src/results/results.ts';

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

const now = new Date('2026-01-02T00:00:00Z');
const linesOf = (change: Partial<LoadPlan> = {}) => questionLines(loadQuestion({ ...plan, ...change }, now));
const created = new Date(snapshot.created_at);
const createdAt = `${created.getFullYear()}-01-01`;

test('the plan names server, database, size, open connections, what chose it, the steps and the way back', () => {
  expect(linesOf().map((line) => (line.includes(createdAt) ? '  Snapshot' : line))).toEqual([
    'Load snapshot 0 of app (k3f9 RAW)',
    '  Snapshot',
    '  Contents          25 tables, 200,123 rows, 45.0 MB in public',
    '  Data              RAW, NOT sanitized: the target has no sanitization query',
    '  Destination       postgres://app@db:5432/app_dev',
    '  Current contents  1.2 GB, 3 open connections',
    '  Duration          about 2.1 s, by its size: no earlier load',
    '  Server            15.18',
    '  Chosen by         targets.app.snapshot.dst_url',
    '  Strategy          swap: the role may create databases',
    '  Signature         none',
    '  Undo              tool undo app',
    '   1. Restore beside',
    '   2. Swap',
    '  warning: 3 sessions will be ended',
    '  app_dev will be replaced. The previous version is kept for one undo.',
  ]);
});

test('the plan says when nothing can be undone', () => {
  expect(linesOf({ undo: false }).at(-1)).toBe('  app_dev will be replaced. This cannot be undone.');
  expect(linesOf({ undo: false, strategy: 'script', snapshot: null, file: 'a.sql' }).at(-1)).toBe(
    '  The file runs on the existing app_dev. Its changes cannot be undone.',
  );
});

test('a yes is enough on this machine; elsewhere the name of the database must be typed', () => {
  expect(loadQuestion(plan, now)).toMatchObject({ ask: 'Replace database "app_dev" on db:5432?', typed: null });
  const remote = { ...plan, destination: { ...plan.destination, local: false } };
  expect(loadQuestion(remote, now)).toMatchObject({ typed: 'app_dev' });
  expect(loadQuestion({ ...plan, unverified_sources: ['shop'] }, now)).toMatchObject({
    warnings: [expect.stringContaining('shop'), '3 sessions will be ended'],
  });
});

test('a database that is not there is created, a file is run', () => {
  const fresh = { ...plan, destination: { ...plan.destination, exists: false } };
  expect(loadQuestion(fresh, now)).toMatchObject({
    ask: 'Create database "app_dev" on db:5432?',
    go: 'Create app_dev',
  });
  const file = { ...plan, snapshot: null, file: '/tmp/a.sql' };
  expect(loadQuestion(file, now).ask).toBe('Run /tmp/a.sql on database "app_dev" on db:5432?');
});

const size = { tables: 25, rows: 200_123, size_bytes: 45_000_000 };

test('a finished load says where to, how long the database was unavailable, and how to go back', () => {
  const result = { ...size, selection: null, swap_ms: 130, undo_database: 'app_dev_old' };
  const summary = loadSummary({ ...result, snapshot, destination: 'postgres://app@db:5432/app_dev' }, plan);
  expect(summaryText(summary)).toBe(
    [
      'Loaded snapshot 0 of app (k3f9 RAW) into postgres://app@db:5432/app_dev: 25 tables, 200,123 rows, 45.0 MB',
      'Verified against the manifest: rows, indexes, constraints, triggers, sequences',
      'app_dev was unavailable for 130 ms',
      'The previous app_dev is kept: tool undo app',
    ].join('\n'),
  );
  expect(detailsWithKey(summary).at(-1)).toBe('The previous app_dev is kept. Press u to undo');
});

test('a load that is not complete lists what is missing, and does not claim to be verified', () => {
  const missing = { objects: 1, tables: 0, rows: 0, differences: ['view v'], errors: ['no such function'] };
  const result = { ...size, selection: null, swap_ms: null, undo_database: null, missing };
  const summary = loadSummary({ ...result, snapshot, destination: 'postgres://db/app_dev' }, plan);
  expect(summary).toMatchObject({ problems: ['Missing:', 'view v', 'no such function'], details: [], undo: null });
});

test('a load of some tables says what comes, what is required and why, and what is left empty', () => {
  const selection: LoadPlan['selection'] = {
    chosen: ['public.item', 'public.orders'],
    needed: [
      { table: 'public.customer', needed_by: 'public.orders', why: 'reference' },
      { table: 'public.orders_2026', needed_by: 'public.orders', why: 'part' },
    ],
    empty: Array.from({ length: 8 }, (_, index) => `public.log_${index}`),
  };
  const tables = [
    'Tables: public.item, public.orders',
    'Required tables: public.customer (public.orders refers to it), public.orders_2026 (a part of public.orders)',
  ];
  const planned = linesOf({ selection }).map((line) => line.trim().replace(/ {2,}/, ': '));
  expect(planned).toEqual(
    expect.arrayContaining([
      'Tables: public.item, public.orders',
      'Required tables: public.customer (public.orders refers to it)',
      'public.orders_2026 (a part of public.orders)',
      expect.stringMatching(/^Left empty: public\.log_0, .*, public\.log_7$/),
    ]),
  );
  const result = { ...size, swap_ms: null, undo_database: null, selection, snapshot, destination: 'postgres://db/x' };
  const { line, details } = loadSummary(result, { ...plan, selection });
  expect(line).toMatch(/^Loaded 2 tables of snapshot 0 of app \(k3f9 RAW\) into/);
  expect(details.slice(0, 3)).toEqual([...tables, 'Left empty: the other 8 tables']);
  const whole = loadQuestion({ ...plan, selection: { ...selection, needed: [], empty: [] } }, now).facts;
  expect(whole).toContainEqual(expect.objectContaining({ name: 'Required tables', value: 'none' }));
  expect(whole).toContainEqual(expect.objectContaining({ name: 'Left empty', value: 'none' }));
});

test('a destination named on the command line must be named again to go back', () => {
  expect(linesOf({ chosen_by: '--destdb' })).toContain('  Undo              tool undo app --destdb URL');
});

const NOW = new Date('2026-01-02T00:00:00Z');
const base = {
  ...{ database: 'app_dev.tool-base', snapshot: 'k3f9', loaded_at: '2026-01-01T22:00:00Z' },
  ...{ size_bytes: 59_000_000, partial: false, outdated: null },
};
const copies = { base, spare: { ...base, database: 'app_dev.tool-spare' } };

test('the plan of a load names the copies that it drops or replaces, and the faster reset', () => {
  const lines = questionLines(loadQuestion({ ...plan, copies, reset_instead: true }, NOW)).join('\n');
  expect(lines).toContain('tool reset app');
  expect(lines).toMatch(/app_dev\.tool-base, 59\.0 MB; will be dropped/);
  expect(lines).toMatch(/app_dev\.tool-spare, 59\.0 MB; will be dropped/);
  const keeping = loadQuestion({ ...plan, copies, keep_base: { spare: false } }, NOW);
  expect(questionLines(keeping).join('\n')).toContain('will be replaced');
  expect(questionLines(loadQuestion(plan, NOW)).join('\n')).not.toMatch(/tool reset|tool-base/);
});

test('the plan of an undo says what becomes of the base copy', () => {
  const undo = {
    ...{ target: 'app', destination: plan.destination, undo_database: 'app_dev.tool-undo', size_bytes: 1 },
    ...{ replaced_at: '2026-01-01T22:00:00Z', unverified_sources: [] },
  };
  const lines = questionLines(undoQuestion({ ...undo, copies: { base, spare: null } }, NOW)).join('\n');
  expect(lines).toContain('app_dev.tool-base, 59.0 MB; not usable until a second undo');
});
