import { expect, test } from 'vitest';
import { type Model, quietly } from '../../../screens/app/model.ts';
import { branchResetRun, branchSwitchRun } from '../../../screens/branches/runs.ts';
import { loadRun, resetRun, sanitizeRun, subsetRun, undoRun } from '../../../screens/run/definitions.ts';
import { outcomeLines } from '../../../screens/run/outcome.ts';
import { UNICODE } from '../../../src/presentation/shapes/glyphs.ts';
import type { RunContext, RunDefinition } from '../../../src/state/runs.ts';
import { listed } from '../../helpers/driven-model.ts';
import { fakeBranch } from '../../helpers/fake-branches.ts';
import { fakeSnapshot, fakeTarget, fakeWorld } from '../../helpers/fake-world.ts';

const BASE = {
  ...{ database: 'app_dev.tool-base', snapshot: '3f2a9c01', loaded_at: '2026-11-20T05:00:00.000Z' },
  ...{ partial: false, size_bytes: 60_000_000, outdated: null },
};

interface Case {
  operation: string;
  /** Of the card, with the duration left out. */
  card: RegExp;
  define: (model: Model, session: RunContext) => Promise<RunDefinition>;
}

const CASES: Case[] = [
  {
    operation: 'load',
    card: /✓ app_dev replaced {2}· .*unavailable/,
    define: async (model, session) => loadRun(model, await model.operations.planLoad(session, { target: 'app' })),
  },
  {
    operation: 'undo',
    card: /✓ app_dev restored {2}· .*unavailable/,
    define: async (model, session) => undoRun(model, await model.operations.planUndo(session, { target: 'app' })),
  },
  {
    operation: 'reset',
    card: /✓ app_dev reset to the last load {2}· .*unavailable 20 ms/,
    define: async (model, session) => resetRun(model, await model.operations.planReset(session, { target: 'app' })),
  },
  {
    operation: 'sanitize',
    card: /[✓!] Built snapshot .* SAFE {2}· .*personal column/,
    define: async (model, session) =>
      sanitizeRun(model, await model.operations.planSanitize(session, { target: 'app' })),
  },
  {
    operation: 'subset',
    card: /✓ app_small (?:replaced|created) {2}· .*620 rows in 1 table {2}· {2}unavailable 9 ms/,
    define: async (model, session) => subsetRun(model, await model.operations.planSubset(session, { target: 'app' })),
  },
  {
    operation: 'branch switch',
    card: /✓ app_dev switched to branch login {2}·/,
    define: async (model, session) =>
      branchSwitchRun(model, await model.operations.planBranchSwitch(session, { target: 'app', name: 'login' })),
  },
  {
    operation: 'branch reset',
    card: /✓ app_dev_login reset to the base copy {2}· .*unavailable/,
    define: async (model, session) =>
      branchResetRun(model, await model.operations.planBranchReset(session, { target: 'app', name: 'login' })),
  },
];

test.each(CASES)('$operation ends with a card of the result, its duration and the outage', async ({ card, define }) => {
  const world = fakeWorld({
    ...{ targets: [fakeTarget({ name: 'app' })], snapshots: { app: [fakeSnapshot()] } },
    ...{ base: BASE, branches: [fakeBranch('login')] },
  });
  const model = await listed(world);
  const id = model.runs.begin(await define(model, quietly(new AbortController().signal)));
  await model.runs.settled();
  const run = model.runs.store.getState().runs.find((each) => each.id === id);
  if (!run) throw new Error('the run is not listed');
  expect(run.state.error).toBeNull();
  const lines = outcomeLines({ run, before: null, width: 110, glyphs: UNICODE });
  const text = lines.map((spans) => spans.map((span) => span.text).join('')).join('\n');
  expect(text).toContain('╭');
  expect(text).toMatch(card);
});
