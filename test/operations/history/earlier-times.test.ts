import { describe, expect, test } from 'vitest';
import { withEarlierTimes } from '../../../src/operations/history/earlier-times.ts';
import { appendHistory, readHistory } from '../../../src/operations/history/history-file.ts';
import { recorded } from '../../../src/operations/history/recorded.ts';
import type { HistoryEntry, StepTime } from '../../../src/results/history-results.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

const HERE = 'postgres://localhost:5432/app_dev';

const loaded: HistoryEntry = {
  ...{ at: '2026-01-31T14:00:00.000Z', operation: 'load', target: 'app', outcome: 'done', error: null },
  ...{ duration_ms: 1500, snapshot: '8c41f2ab', sanitized: true, from: null, to: HERE },
  ...{ branches: [], method: 'full', size_bytes: 1000, swap_ms: 46 },
};

const EXPECTED = [
  { step: 'restore', label: 'Restore', ms: 10_000 },
  { step: 'index', label: 'Index', ms: 10_000 },
  { step: 'swap', label: 'Swap', ms: 10_000 },
];

const alike = { operation: 'load', target: 'app', to: HERE, method: 'full' } as const;

async function estimated(entries: Partial<HistoryEntry>[], of: Parameters<typeof withEarlierTimes>[2] = alike) {
  await using folder = await temporaryFolder();
  const context = testContext({ settings: { working_directory: folder.path } });
  for (const entry of entries) await appendHistory(context, { ...loaded, ...entry });
  return withEarlierTimes(context, EXPECTED, of).map(({ ms }) => Math.round(ms));
}

function timed(ms: number[], expected?: number): StepTime[] {
  return ms.map((each, at) => ({
    step: EXPECTED[at]?.step ?? '',
    ms: each,
    ...(expected !== undefined && { expected_ms: expected }),
  }));
}

describe('the expected durations of steps', () => {
  test('are those of the content without an earlier run', async () => {
    expect(await estimated([])).toEqual([10_000, 10_000, 10_000]);
  });

  test('follow the medians of earlier runs of the same kind for the same target', async () => {
    const runs = [1000, 9000, 3000].map((ms) => ({ steps: timed([ms, ms, ms], 10_000) }));
    for (const ms of await estimated(runs)) expect(Math.abs(ms - 3000)).toBeLessThan(100);
  });

  test('do not follow one delayed step of one run as far as that of three', async () => {
    const run = { steps: timed([10_000, 10_000, 80_000]) };
    const [once, thrice] = [await estimated([run]), await estimated([run, run, run])];
    expect(once[2]).toBeLessThan(60_000);
    expect(thrice[2]).toBeGreaterThan(60_000);
    expect(thrice[2]).toBeLessThan(80_000);
  });

  test('follow how fast the server was in runs for other targets, step by step', async () => {
    const other = { target: 'shop', to: 'postgres://localhost:5432/shop_dev' };
    const [restore = 0, index = 0, swap = 0] = await estimated([{ ...other, steps: timed([4000, 1000], 2000) }]);
    expect(restore).toBeGreaterThan(15_000);
    expect(index).toBeLessThan(7000);
    // Not seen yet: as the others together.
    expect(swap).toBeGreaterThan(index);
    expect(swap).toBeLessThan(restore);
  });

  test('say nothing of another server, and nothing from runs that failed', async () => {
    const steps = timed([4000, 4000, 4000], 1000);
    const elsewhere = { target: 'shop', to: 'postgres://db.example.org/shop_dev', steps };
    const failed = { target: 'shop', outcome: 'failed' as const, steps };
    expect(await estimated([elsewhere, failed])).toEqual([10_000, 10_000, 10_000]);
  });

  test('are kept beside the times of a run, from which later runs learn', async () => {
    await using folder = await temporaryFolder();
    const context = testContext({ settings: { working_directory: folder.path } });
    await recorded(
      context,
      { operation: 'load', target: 'shop', to: HERE },
      {
        work: async ({ report }) => {
          for (const step of ['restore', 'swap']) {
            for (const state of ['started', 'done'] as const) report({ event: 'step', step, state, label: step });
          }
        },
        steps: () => EXPECTED,
      },
    );
    expect(readHistory(context).entries[0]?.steps).toMatchObject([
      { step: 'restore', expected_ms: 10_000 },
      { step: 'swap', expected_ms: 10_000 },
    ]);
  });
});
