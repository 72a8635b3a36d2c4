import { expect, test } from 'vitest';
import { endedLine, runStatus } from '../../../screens/app/frame/run-text.ts';
import { activityOf } from '../../../screens/app/lists/activity.ts';
import type { Model } from '../../../screens/app/model.ts';
import { answerConfirm } from '../../../screens/confirm/answer.ts';
import { outcomeLines } from '../../../screens/run/outcome.ts';
import { branchResetSummary } from '../../../src/operations/branch/reset/text.ts';
import { branchSwitchSummary } from '../../../src/operations/branch/switch/text.ts';
import { targetFacts } from '../../../src/operations/targets/targets-text.ts';
import { UNICODE } from '../../../src/presentation/shapes/glyphs.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import type { Run } from '../../../src/state/runs.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';

test('after an undo the run of the load offers no undo, and names what came after it', async () => {
  const model = await listed(fakeWorld());
  press(model, 'enter');
  await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
  await confirmed(model, 'l');
  expect(runs(model)[0]?.summary?.undo).not.toBeNull();
  await confirmed(model, 'u');
  press(model, 'esc');
  expect(model.navigation.top()).toMatchObject({ screen: 'run', run: '1' });
  const text = outcome(runs(model)[0]);
  expect(text).toContain('Since then: Restored');
  expect(text).not.toContain('Press u to undo');
  press(model, 'u');
  expect(model.navigation.top().screen).toBe('run');
});

test('a sanitized snapshot with unchanged personal columns is a caution wherever its run is shown', async () => {
  const model = await listed(fakeWorld({ queryFile: 'clean.sql' }));
  press(model, 'enter');
  await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
  await confirmed(model, 's');
  const [run] = runs(model);
  if (!run) throw new Error('nothing has run');
  expect(outcome(run)).toMatch(/! Snapshot \S+ SAFE created .* 1 of 3 personal columns/);
  expect(endedLine(run).tone).toBe('caution');
  expect(runStatus(run, 0).tone).toBe('caution');
  expect(activityOf({ runs: [run], messages: [], recorded: [], now: 0 })).toMatchObject([{ tone: 'caution' }]);
});

test.each([
  { key: 'b', plans: false, card: /✓ Snapshot \S+ RAW created {2}· / },
  { key: 'l', plans: true, card: /✓ app_dev replaced {2}· .* · {2}unavailable / },
  { key: 'u', plans: true, card: /✓ app_dev restored {2}· .* · {2}unavailable / },
])('$key ends with a card of what became of what', async ({ key, plans, card }) => {
  const model = await listed(fakeWorld());
  press(model, 'enter');
  await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
  if (key !== 'l' && plans) await confirmed(model, 'l');
  if (plans) await confirmed(model, key);
  else press(model, key);
  await until(() => runs(model).at(-1)?.state.status === 'done');
  expect(outcome(runs(model).at(-1))).toMatch(card);
});

test('a reset and a switch of branches end with a card, too', () => {
  const way = { way: 'copy', way_reason: null } as const;
  const branches = [{ name: 'test_1', database: 'app_dev_test_1', ...way, swap_ms: 40 }];
  const summaries = [
    branchResetSummary({ target: 'app', snapshot: null, branches, undo_database: null }, { branches: [] }),
    branchSwitchSummary({
      ...{ target: 'app', destination: 'postgres://localhost/app_dev', branch: 'test_1' },
      ...{ previous: 'main', swap_ms: 12, undo_database: null },
    }),
  ];
  expect(summaries.map(({ card, unavailable }) => [card?.title, unavailable])).toEqual([
    ['test_1 reset', { what: 'test_1', ms: 40 }],
    ['Switched to branch test_1', { what: 'The destination', ms: 12 }],
  ]);
  // A key reverts it on the screens.
  expect(summaries[1]?.undo).toMatchObject({ command: 'tool undo app' });
});

test('the status of a target is that of its last check, and is checked again after a failed run', async () => {
  const world = fakeWorld({ failLoad: new UserError('unreachable', 'the server is gone') });
  const model = await listed(world);
  await until(() => status(model)?.row.status === 'ok');
  const entry = status(model);
  if (!entry) throw new Error('the target is gone');
  expect(targetFacts(entry, 0)[0]?.value).toMatch(/^up at \d\d:\d\d, 3 ms$/);
  world.checks.app = { status: 'unreachable', error: 'no answer', error_code: 'unreachable' };
  press(model, 'enter');
  await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
  await confirmed(model, 'l');
  await until(() => status(model)?.row.status === 'unreachable');
});

function runs(model: Model): Run[] {
  return model.runs.store.getState().runs;
}

function status(model: Model) {
  return model.targets.getState().entries[0];
}

function outcome(run: Run | undefined): string {
  const lines = run ? outcomeLines({ run, before: null, width: 400, glyphs: UNICODE }) : [];
  return lines.map((spans) => spans.map(({ text }) => text).join('')).join('\n');
}

/** Presses a key that plans, answers yes and waits for the end of the run. */
async function confirmed(model: Model, key: string): Promise<void> {
  const before = runs(model).length;
  press(model, key);
  await until(() => {
    const route = model.navigation.top();
    return route.screen === 'confirm' && route.plan !== null;
  });
  answerConfirm(model, 'go');
  await until(() => runs(model).length > before);
  await model.runs.settled();
}
