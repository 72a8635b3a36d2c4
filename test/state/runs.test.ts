import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/runtime/errors.ts';
import { createRuns, type Run, type RunContext, type RunSummary, runBefore } from '../../src/state/runs.ts';

const summary: RunSummary = { line: 'Built', details: [], problems: [], undo: null };

test('work reports into its run, and leaves a summary', async () => {
  const runs = newRuns();
  const id = runs.begin(
    work(async ({ report }) => {
      report({ event: 'step', step: 'dump', state: 'started', label: 'Dump' });
      report({ event: 'step', step: 'dump', state: 'done', label: 'Dump' });
    }),
  );
  expect(runs.live()).toHaveLength(1);
  await runs.settled();
  expect(runs.store.getState().runs).toMatchObject([
    {
      id,
      state: { status: 'done', steps: [{ step: 'dump', state: 'done' }] },
      summary: { line: 'Built' },
    },
  ]);
  expect(runs.live()).toEqual([]);
});

test('work that fails keeps its error, and can be done again as a run of its own', async () => {
  const runs = newRuns();
  let attempts = 0;
  const id = runs.begin(
    work(async () => {
      attempts += 1;
      if (attempts === 1) throw new UserError('disk_full', 'Disk full');
    }),
  );
  await runs.settled();
  const again = runs.again(id);
  await runs.settled();
  expect(runs.store.getState().runs).toMatchObject([
    { id, state: { status: 'failed', error: { message: 'Disk full' } } },
    { id: again, state: { status: 'done' } },
  ]);
});

test('cancelling aborts the signal and ends the run as cancelled', async () => {
  const runs = newRuns();
  const id = runs.begin(
    work(({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))),
  );
  runs.cancel(id);
  expect(runs.store.getState().runs[0]).toMatchObject({ cancelling: true, state: { status: 'running' } });
  await runs.settled();
  expect(runs.store.getState().runs[0]?.state).toMatchObject({ status: 'cancelled', error: { code: 'interrupted' } });
});

test('a thousand events change the store a few times, and none is lost', async () => {
  const runs = newRuns();
  let changes = 0;
  runs.store.subscribe(() => {
    changes += 1;
  });
  runs.begin(
    work(async ({ report }) => {
      for (let line = 0; line < 1000; line += 1) report({ event: 'command', command: `c${line}` });
    }),
  );
  await runs.settled();
  expect(runs.store.getState().runs[0]?.state.log).toHaveLength(1000);
  expect(changes).toBeLessThan(5);
});

describe('the queue', () => {
  test('work on one target is done one after the other, work on another beside it', async () => {
    const { runs, begin, finish, statuses } = controlled();
    begin('app', 'app', 'billing', 'app');
    expect(statuses()).toEqual(['running', 'waiting', 'running', 'waiting']);
    const [first, second, , fourth] = runs.store.getState().runs;
    expect(runBefore(runs.store.getState().runs, second as Run)).toBe(first);
    expect(runBefore(runs.store.getState().runs, fourth as Run)).toBe(second);
    await finish(0);
    expect(statuses()).toEqual(['done', 'running', 'running', 'waiting']);
    await finish(1);
    expect(statuses()).toEqual(['done', 'done', 'running', 'running']);
    await finish(2);
    await finish(3);
    await runs.settled();
    expect(runs.live()).toEqual([]);
  });

  test('a waiting run starts although the run before it failed', async () => {
    const { begin, fail, statuses } = controlled();
    begin('app', 'app');
    await fail(0);
    expect(statuses()).toEqual(['failed', 'running']);
  });

  test('a cancelled waiting run never starts, and later runs still wait for earlier ones', async () => {
    const { runs, begin, begun, statuses } = controlled();
    const [, second = ''] = begin('app', 'app', 'app');
    runs.cancel(second);
    expect(statuses()).toEqual(['running', 'cancelled', 'waiting']);
    expect(begun()).toEqual([0]);
    expect(runs.store.getState().runs[1]?.state.error?.message).toBe('Removed from the queue');
  });

  test('cancelling all lets nothing of it begin', async () => {
    const { runs, begin, begun, statuses } = controlled();
    begin('app', 'app', 'billing');
    runs.cancelAll();
    await runs.settled();
    expect(statuses()).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(begun()).toEqual([0, 2]);
  });

  test('each end is reported once', async () => {
    const { begin, finish, fail, ended } = controlled();
    begin('app', 'billing');
    await finish(0);
    await fail(1);
    expect(ended()).toEqual(['1 done', '2 failed']);
  });
});

function newRuns() {
  return createRuns({ clock: () => new Date(0) });
}

/** Runs that end when the test says so. */
function controlled() {
  const ends: string[] = [];
  const jobs: { begun: boolean; done: PromiseWithResolvers<void> }[] = [];
  const runs = createRuns({ clock: () => new Date(0), onEnd: ({ id, state }) => ends.push(`${id} ${state.status}`) });
  const statuses = () => runs.store.getState().runs.map(({ state }) => state.status);
  const settle = async (index: number) => {
    await expect.poll(() => statuses()[index]).not.toBe('running');
  };
  return {
    runs,
    statuses,
    ended: () => ends,
    begun: () => jobs.flatMap(({ begun }, index) => (begun ? [index] : [])),
    begin: (...targets: string[]) =>
      targets.map((target) => {
        const job = { begun: false, done: Promise.withResolvers<void>() };
        jobs.push(job);
        const performed = work(({ signal }) => {
          job.begun = true;
          signal.addEventListener('abort', () => job.done.reject(signal.reason));
          return job.done.promise;
        });
        return runs.begin({ ...performed, target });
      }),
    finish(index: number) {
      jobs[index]?.done.resolve();
      return settle(index);
    },
    fail(index: number) {
      jobs[index]?.done.reject(new Error('disk full'));
      return settle(index);
    },
  };
}

function work(perform: (session: RunContext) => Promise<void>) {
  return {
    title: 'Build',
    target: 'app',
    kind: 'build' as const,
    replaces: null,
    perform: async (session: RunContext) => {
      await perform(session);
      return summary;
    },
  };
}
