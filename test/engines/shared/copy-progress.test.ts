import { expect, it } from 'vitest';
import { copyProgress } from '../../../src/engines/shared/bytes-progress.ts';
import type { RunEvent } from '../../../src/results/events.ts';

it('reports rows and bytes of all tables and of each, and raises a total that is exceeded', () => {
  const events: RunEvent[] = [];
  const moved = copyProgress(
    (event) => void events.push(event),
    new Map([
      ['public.orders', 10],
      ['public.customer', 2],
    ]),
  );
  moved('public.orders', { rows: 4, bytes: 400 });
  moved('public.customer', { rows: 3, bytes: 30 });
  moved('public.orders', { rows: 6, bytes: 600 });
  const common = { event: 'progress', step: 'copy', unit: 'rows' };
  expect(events).toEqual([
    {
      ...{ ...common, done: 4, total: 12, bytes: 400 },
      ...{ current: 'public.orders', of_current: { done: 4, total: 10, bytes: 400 } },
    },
    {
      ...{ ...common, done: 7, total: 12, bytes: 430 },
      ...{ current: 'public.customer', of_current: { done: 3, total: 3, bytes: 30 } },
    },
    {
      ...{ ...common, done: 13, total: 13, bytes: 1030 },
      ...{ current: 'public.orders', of_current: { done: 10, total: 10, bytes: 1000 } },
    },
  ]);
});
