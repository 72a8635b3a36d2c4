import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import { answerConfirm } from '../../../screens/confirm/answer.ts';
import type { HistoryEntry } from '../../../src/results/history-results.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, running, until } from '../../helpers/terminal/driven-model.ts';

const loaded: HistoryEntry = {
  ...{ at: '2026-01-31T14:00:00.000Z', operation: 'load', target: 'app', outcome: 'done', error: null },
  ...{ duration_ms: 1500, snapshot: '8c41f2ab', sanitized: true, from: null, to: 'postgres://localhost/app_dev' },
  ...{ branches: [], method: 'full', size_bytes: 1000, swap_ms: 46 },
};
const failed: HistoryEntry = { ...loaded, target: 'shop', outcome: 'failed', error: 'restore_failed', swap_ms: null };

test('entries begin with the verb and the id; those of earlier sessions and of scripts, too', async () => {
  const targets = [fakeTarget({ name: 'app', snapshots: 1 })];
  const model = await listed(fakeWorld({ targets, history: [failed, loaded] }));
  await opened(model);
  const list = await screenText(model);
  expect(list).toMatch(/activity.* 2 entries/);
  expect(list).toMatch(/2026-01-31 +✗ failed +load 8c41f2ab → app_dev +shop/);
  expect(list).toMatch(/2026-01-31 +✓ done +load 8c41f2ab → app_dev +app/);
  expect(list).toMatch(/Outcome +failed: restore_failed/);
  press(model, 'down');
  expect(await screenText(model, { columns: 140, rows: 24 })).toMatch(/Unavailable +46 ms/);
});

test('a run of this session is one entry, though the history has it too; its name is of what it made', async () => {
  const recorded = { ...loaded, operation: 'build' as const, at: '2026-11-21T05:00:00.000Z', snapshot: 'built-1' };
  const model = await listed(fakeWorld({ history: [recorded, loaded] }));
  press(model, 'b');
  await running(model);
  await model.runs.settled();
  press(model, 'esc');
  await opened(model);
  const list = await screenText(model);
  expect(list).toMatch(/2 entries/);
  expect(list).toMatch(/❯ 05:00 +✓ done +build built-1 +app/);
});

test('a failed run has its reason once', async () => {
  const world = fakeWorld({ failLoad: new UserError('restore_failed', 'The disk is full') });
  const model = await listed(world);
  press(model, 'l');
  await until(() => model.navigation.top().screen === 'confirm');
  await until(() => JSON.stringify(model.navigation.top()).includes('"question"'));
  answerConfirm(model, 'go');
  await running(model);
  await model.runs.settled();
  press(model, 'esc');
  await opened(model);
  const shown = await screenText(model, { columns: 200, rows: 24 });
  expect(shown).toMatch(/❯ 05:00 +✗ failed +load .* The disk is full/);
  expect(shown).not.toContain('failed: The disk');
});

test('Enter opens the snapshot that was loaded; a failed operation of an earlier session has nothing to open', async () => {
  const model = await listed(fakeWorld({ history: [failed, loaded] }));
  await opened(model);
  press(model, 'enter');
  expect(notice(model)).toBe('There is nothing to open');
  press(model, 'j', 'enter');
  expect(model.navigation.top()).toMatchObject({ screen: 'snapshots', target: 'app', list: { selected: '8c41f2ab' } });
});

test('a load of an earlier session is repeated after its question, and its result undone', async () => {
  const model = await listed(fakeWorld({ history: [loaded, { ...loaded, operation: 'push' }] }));
  await opened(model);
  press(model, '.');
  expect(model.navigation.top()).toMatchObject({ screen: 'confirm', target: 'app', title: 'load 8c41f2ab' });
  press(model, 'esc', 'u');
  expect(model.navigation.top()).toMatchObject({ screen: 'confirm', title: 'undo load' });
  press(model, 'esc', 'L');
  expect(notice(model)).toContain('Only runs of this session have a log here');
  press(model, 'j', '.');
  expect(notice(model)).toBe('Only builds, loads and resets are repeated');
});

test('from the snapshots of a target the activity is that of the target', async () => {
  const model = await listed(fakeWorld({ history: [failed, loaded] }));
  press(model, 'enter');
  await opened(model);
  expect(await screenText(model)).toMatch(/app ❯ activity .* 1 entry/);
  press(model, '/', ...'nothing like it');
  expect(await screenText(model)).toMatch(/0 of 1 entry[\s\S]*Nothing matches the filter/);
});

test('a list whose history is not read yet does not state that nothing was done', async () => {
  const model = await listed(fakeWorld({}));
  await opened(model);
  model.history.setState({ found: null });
  const text = await screenText(model);
  expect(text).toContain('Reading the history…');
  expect(text).not.toContain('Nothing was done yet.');
});

test('an empty list states what it will contain', async () => {
  const model = await listed(fakeWorld({}));
  await opened(model);
  expect(await screenText(model)).toContain('Nothing was done yet.');
});

async function opened(model: Model): Promise<void> {
  press(model, 't');
  await until(() => model.history.getState().found !== null);
  expect(model.navigation.top().screen).toBe('activity');
}

function notice(model: Model): string {
  return model.navigation.store.getState().notice?.text ?? '';
}
