import { expect, test } from 'vitest';
import { type TargetsView, targetsText } from '../../../src/cli/printers/lists.ts';
import { createStyle } from '../../../src/cli/printers/style.ts';
import type { TargetRow } from '../../../src/results/results.ts';

const view: TargetsView = {
  columns: null,
  style: createStyle({ color: false, unicode: true }),
  file: '/etc/tool.yml',
  mode: 'local',
  lacksSignIn: false,
  now: 0,
};

const row: TargetRow = {
  name: 'app',
  title: 'app',
  type: 'local',
  engine: 'postgres',
  src_url: 'postgres://app@db:5432/app',
  dst_url: null,
  storage_profile: null,
  status: 'ok',
  latency_ms: 3.4,
  server_version: '15.18',
  size_bytes: 12_300_000,
  snapshots: 2,
  last_snapshot_at: '2026-11-21T04:00:00.000Z',
  error: null,
  error_code: null,
};

test('targets are a table, one line each', () => {
  expect(targetsText([row], view).split('\n').slice(0, 2)).toEqual([
    'TARGET  TYPE   ENGINE            STATUS  LATENCY     SIZE  SNAPSHOTS  STORAGE  SOURCE                      DESTINATION',
    'app     local  PostgreSQL 15.18  ✓ up       3 ms  12.3 MB          2  –        postgres://app@db:5432/app  –',
  ]);
});

test('titles are shown where one differs from the name', () => {
  expect(targetsText([row], view)).not.toContain('TITLE');
  expect(targetsText([{ ...row, title: 'The shop' }], view)).toMatch(/TITLE.*The shop/s);
});

test('below the table it says why a target does not answer', () => {
  const down: TargetRow = {
    ...row,
    status: 'unreachable',
    latency_ms: null,
    size_bytes: null,
    error: 'db:5432: refused',
  };
  expect(targetsText([down], view)).toMatch(/unreachable.*\n\napp: db:5432: refused\n/s);
});

test('the last line says which mode it is, and where the configuration comes from', () => {
  expect(targetsText([row], view)).toMatch(/\n\nLocal mode \(no authtoken\), from \/etc\/tool\.yml$/);
  expect(targetsText([], { ...view, mode: 'cloud', file: null })).toMatch(/\nCloud mode, from the variables$/);
});

test('an empty list names the file to add targets to, or the sign-in where a hub has them', () => {
  expect(targetsText([], view)).toContain('Add one under "targets" in /etc/tool.yml');
  expect(targetsText([], { ...view, mode: 'cloud' })).toMatch(
    /^Neither the configuration nor the hub .* in \/etc\/tool/,
  );
  expect(targetsText([], { ...view, lacksSignIn: true })).toMatch(
    /^No targets yet\. Sign in .*: tool auth login hub\n/,
  );
});
