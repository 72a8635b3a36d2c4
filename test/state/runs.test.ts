import { expect, test } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { createRuns, type Receipt, type Session } from '../../src/state/runs.ts';

const receipt: Receipt = { line: 'Built', problems: [], undoable: false };

test('work reports into its run, and leaves a receipt', async () => {
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
    { id, state: { status: 'done', steps: [{ step: 'dump', state: 'done' }] }, receipt },
  ]);
  expect(runs.live()).toEqual([]);
});

test('work that fails keeps its error, and can be done again as a run of its own', async () => {
  const runs = newRuns();
  let attempts = 0;
  const id = runs.begin(
    work(async () => {
      attempts += 1;
      if (attempts === 1) throw new UserError('Disk full', { code: 'disk_full', exit: 1 });
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

function newRuns() {
  return createRuns({ clock: () => new Date(0) });
}

function work(perform: (session: Session) => Promise<void>) {
  return {
    title: 'Build',
    target: 'app',
    kind: 'build' as const,
    replaces: null,
    perform: async (session: Session) => {
      await perform(session);
      return () => receipt;
    },
  };
}
