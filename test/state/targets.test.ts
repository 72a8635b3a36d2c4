import { expect, test } from 'vitest';
import { UserError } from '../../src/runtime/errors.ts';
import {
  contentsRead,
  createTargetsStore,
  type TargetsState,
  targetsChecked,
  targetsChecking,
  targetsFailed,
  targetsListed,
  targetsUnreachable,
} from '../../src/state/targets.ts';
import { fakeTarget } from '../helpers/fakes/fake-world.ts';

const app = fakeTarget({ name: 'app' });
const up = fakeTarget({ name: 'app', status: 'ok', latency_ms: 3 });

test('the cached state is shown until the first check', () => {
  const known = createTargetsStore([{ row: up, checkedAt: 1000 }]).getState();
  expect(known.entries).toMatchObject([{ row: { status: 'ok' }, checking: true, checkedAt: 1000 }]);
  const listed = targetsListed(known, [fakeTarget({ name: 'app', snapshots: 4 })]);
  expect(listed.entries).toMatchObject([{ row: { status: 'ok', latency_ms: 3, snapshots: 4 }, checkedAt: 1000 }]);
});

test('the copies of a destination stay until they are read again', () => {
  const branches = { count: 2, size_bytes: null, own_bytes: null };
  const known = createTargetsStore([
    { row: { ...up, copies: { base: null, spare: null, branches } }, checkedAt: 1000 },
  ]).getState();
  const stays = targetsListed(known, [fakeTarget({ name: 'app', snapshots: 4 })]);
  expect(stays.entries[0]?.row).toMatchObject({ snapshots: 4, copies: { branches } });
  const copies = { base: null, spare: null, branches: null };
  expect(targetsListed(stays, [{ ...app, copies }]).entries[0]?.row.copies).toEqual(copies);
});

test('a destination that does not exist stays missing until it is read again', () => {
  const missing = contentsRead(listed(), { ...app, contents: null, destination_missing: true });
  const checked = targetsChecked(missing, new Map([['app', up]]), 1000);
  expect(checked.entries[0]?.row).toMatchObject({ status: 'ok', contents: null, destination_missing: true });
  const contents = { snapshot: '1a2b3c4d', sanitized: true, since: '2026-11-21T04:30:00.000Z', unchanged: true };
  const { row } = contentsRead(checked, { ...app, contents }).entries[0] ?? {};
  expect(row).toMatchObject({ status: 'ok', contents });
  expect(row).not.toHaveProperty('destination_missing');
});

test('targets that are no longer configured go', () => {
  const state = targetsListed(listed(), [fakeTarget({ name: 'other' })]);
  expect(state.entries.map(({ row }) => row.name)).toEqual(['other']);
});

test('a status has the time of its check, and no time before it', () => {
  const first = targetsChecked(listed(), new Map([['app', up]]), 1000);
  const again = targetsChecked(targetsChecking(first), new Map([['app', up]]), 5000);
  expect(again.entries[0]).toMatchObject({ checkedAt: 5000, checking: false });
  const down = targetsUnreachable(again, { names: new Set(['app']), reason: 'no answer', now: 9000 });
  expect(down.entries[0]).toMatchObject({
    row: { status: 'unreachable', latency_ms: null, error: 'no answer' },
    checkedAt: 9000,
  });
});

test('a configuration that cannot be read leaves the list in view, with the reason', () => {
  const error = new UserError('no_configuration', 'no configuration');
  expect(targetsFailed(targetsChecking(listed()), error)).toMatchObject({
    phase: 'failed',
    error,
    entries: [{ row: { name: 'app' }, checking: false }],
  });
});

function listed(): TargetsState {
  return targetsListed(createTargetsStore().getState(), [app]);
}
