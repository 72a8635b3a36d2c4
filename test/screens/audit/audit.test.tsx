import { expect, test } from 'vitest';
import { UserError } from '../../../src/runtime/errors.ts';
import { fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';

const hosted = fakeTarget({
  name: 'hosted',
  type: 'cloud',
  src_url: null,
  snapshots: 12,
  permissions: ['read', 'push'],
  sso_groups: ['developers', 'qa'],
});
const event = { at: '2026-11-20T10:00:00.000Z', action: 'snapshot.publish', target: 'hosted', object: '3f2a9c01' };
const audit = [
  { ...event, actor: 'ann@example.com', outcome: 'done' as const, address: '203.0.113.7' },
  {
    ...event,
    actor: 'eve\u202E\u001b[2J',
    action: 'GET /tokens',
    object: null,
    outcome: 'refused' as const,
    address: null,
  },
  { ...event, actor: 'bob', target: 'other', outcome: 'done' as const, address: null },
];

test('the audit of a cloud target lists its events, with the selected one in full', async () => {
  const model = await listed(fakeWorld({ targets: [hosted], audit }));
  press(model, 'A');
  const route = () => model.navigation.top();
  await until(() => 'found' in route() && (route() as { found: unknown }).found !== null);
  const shown = await screenText(model);
  expect(shown).toMatch(/hosted ❯ audit ─+ 2 events/);
  expect(shown).toMatch(/ann@example\.com +snapshot\.publish +3f2a9c01 +done/);
  expect(shown).toMatch(/eve +\[2J +GET \/tokens +refused/);
  expect(shown).toMatch(/Address +203\.0\.113\.7/);
  expect(shown).not.toContain('bob');
});

test('callers without permission see the groups that may read the audit', async () => {
  const hint = 'It needs one of the groups: owners, auditors.';
  const failAudit = new UserError('not_permitted', 'Only owners and auditors may read the audit', { hint });
  const model = await listed(fakeWorld({ targets: [hosted], failAudit }));
  press(model, 'A');
  await until(() => 'error' in model.navigation.top() && (model.navigation.top() as { error: unknown }).error !== null);
  expect(await screenText(model)).toMatch(/Only owners and auditors.*owners, auditors\./s);
});

test('a local target has no audit', async () => {
  const model = await listed(fakeWorld({ targets: [fakeTarget({ name: 'app' })], audit }));
  press(model, 'A');
  expect(model.navigation.top().screen).toBe('targets');
});

test('a cloud target shows with whom it is shared and what the caller may do', async () => {
  const reader = fakeTarget({ ...hosted, name: 'reader', permissions: ['read'], sso_groups: [] });
  const model = await listed(fakeWorld({ targets: [hosted, reader] }));
  expect(await screenText(model)).toContain('with developers, qa; you may build it');
  expect(await screenText(model)).toContain('12 on the hub');
  press(model, 'j');
  expect(await screenText(model)).toContain('you may load sanitized snapshots');
});

test.each([
  [{ problem: 'unreachable', as_of: '2026-11-21T04:03:00.000Z' }, /Hub unreachable: showing data as of \d\d:03/],
  [{ problem: 'unreachable', as_of: '2026-11-19T04:03:00.000Z' }, /showing data as of 2026-11-1\d \d\d:03/],
  [{ problem: 'unreachable', as_of: null }, /Hub unreachable: showing local targets only/],
  [{ problem: 'refused', as_of: null }, /The hub refused the token: press I to sign in/],
] as const)('the list says that its cloud targets are not up to date: %o', async (hub, words) => {
  const model = await listed(fakeWorld({ targets: [hosted], hub }));
  for (const size of [
    { columns: 80, rows: 24 },
    { columns: 110, rows: 30 },
    { columns: 60, rows: 12 },
  ]) {
    const shown = await screenText(model, size);
    expect(shown).toMatch(words);
    expect(shown).toContain('hosted');
    expect(shown.split('\n')).toHaveLength(size.rows);
  }
});

test('the list is labelled empty without targets', async () => {
  const model = await listed(fakeWorld({ targets: [], hub: { problem: 'refused', as_of: null } }));
  expect(await screenText(model)).toContain('press I to sign in');
});
