import { expect, test } from 'vitest';
import { type KeepPolicy, keptBy } from '../../../src/repository/keep-policy.ts';
import { fakeSnapshot } from '../../helpers/fakes/fake-world.ts';

const DAY = 24 * 60 * 60 * 1000;
const now = new Date('2026-03-31T12:00:00Z');

/** The times of those that are kept, of snapshots taken at these times. */
function kept(policy: KeepPolicy, times: string[]): string[] {
  const rows = times.map((created_at, index) => fakeSnapshot({ index, created_at, id: `id${index}` }));
  return [...keptBy(policy, rows, now)].map(({ created_at }) => created_at);
}

const TIMES = [
  '2026-03-31T10:00:00Z',
  '2026-03-31T08:00:00Z',
  '2026-03-30T23:59:59Z',
  '2026-03-29T00:00:00Z',
  '2026-03-28T00:00:00Z',
  '2026-02-28T00:00:00Z',
  '2025-12-31T00:00:00Z',
];

test.each<[string, KeepPolicy, number[]]>([
  ['the newest three', { last: 3 }, [0, 1, 2]],
  ['those younger than three days', { within: 3 * DAY }, [0, 1, 2, 3]],
  ['the newest of each of the last three days that have any', { daily: 3 }, [0, 2, 3]],
  ['the newest of each week, from Monday on', { weekly: 2 }, [0, 3]],
  ['the newest of each month that has any', { monthly: 3 }, [0, 5, 6]],
  ['what any of several rules keeps', { last: 1, monthly: 2 }, [0, 5]],
  ['everything, when there are fewer than are to be kept', { last: 100 }, [0, 1, 2, 3, 4, 5, 6]],
])('%s', (_what, policy, indexes) => {
  expect(kept(policy, TIMES)).toEqual(indexes.map((index) => TIMES[index]));
});

test('an original and what was made of it count as one, and stay or go together', () => {
  const rows = [0, 1, 2].flatMap((index) => {
    const facts = { index, created_at: TIMES[index] as string };
    const sibling = { ...fakeSnapshot(facts), id: `safe${index}`, sanitized: true, sanitized_of: `id${index}` };
    return [sibling, { ...fakeSnapshot(facts), id: `id${index}` }];
  });
  expect([...keptBy({ last: 2 }, rows, now)].map(({ id }) => id)).toEqual(['safe0', 'id0', 'safe1', 'id1']);
  expect([...keptBy({ daily: 2 }, rows, now)].map(({ id }) => id)).toEqual(['safe0', 'id0', 'safe2', 'id2']);
});
