import { expect, test } from 'vitest';
import { snapshotsText } from '../../../src/cli/printers/lists.ts';
import { createStyle } from '../../../src/cli/printers/style.ts';

const options = { columns: 80, style: createStyle({ color: false, unicode: true }), now: 0 };

test('an empty list explains how to get snapshots: by a build, or by a push of others', () => {
  const nothing = { target: 'app', snapshots: [] };
  expect(snapshotsText(nothing, { ...options, shares: false })).toContain('Build one with: tool build app');
  const shared = snapshotsText(nothing, { ...options, shares: true });
  expect(shared).toContain('tool push');
  expect(shared).not.toContain('tool build');
});
