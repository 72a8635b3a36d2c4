import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import { answerConfirm } from '../../../screens/confirm/answer.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { fakeSnapshot, fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { listed, press, running, until } from '../../helpers/terminal/driven-model.ts';
import { fakeTerminal } from '../../helpers/terminal/fake-terminal.ts';

const forEver = new Promise<void>(() => {});

test('a second operation on a target waits, is shown as waiting, and begins by itself', async () => {
  const gate = Promise.withResolvers<void>();
  const world = fakeWorld({ gate: gate.promise });
  const model = await listed(world);
  press(model, 'b');
  await running(model);
  press(model, 'esc', 'b');
  await until(() => statuses(model).length === 2);
  expect(statuses(model)).toEqual(['running', 'waiting']);
  expect(model.navigation.top()).toMatchObject({ screen: 'run', run: '2' });
  gate.resolve();
  await model.runs.settled();
  expect(world.done).toEqual(['build app', 'build app']);
});

test('c takes what waits out of the queue without a question', async () => {
  const model = await listed(fakeWorld({ gate: forEver }));
  await buildTwice(model);
  press(model, 'c');
  expect(statuses(model)).toEqual(['running', 'cancelled']);
  expect(model.navigation.top()).toMatchObject({ screen: 'run', run: '2' });
});

test('the list of tasks cancels, retries and opens the one that is selected', async () => {
  const model = await listed(fakeWorld({ gate: forEver }));
  await buildTwice(model);
  press(model, 'esc', 't', 'c');
  expect(statuses(model)).toEqual(['running', 'cancelled']);
  press(model, 'r');
  expect(statuses(model)).toEqual(['running', 'cancelled', 'waiting']);
  press(model, 'esc', 'j', 'j', 'enter');
  expect(model.navigation.top()).toMatchObject({ screen: 'run', run: '1' });
});

test('a load is refused while another one is to replace the same database', async () => {
  const world = fakeWorld({ gate: forEver, targets: [fakeTarget({ name: 'app' }), fakeTarget({ name: 'billing' })] });
  world.snapshots.billing = [fakeSnapshot()];
  const model = await listed(world);
  press(model, 'enter');
  await load(model, 'app');
  answerConfirm(model, 'go');
  press(model, 'esc', 'esc', 'j', 'enter');
  await load(model, 'billing');
  expect(model.navigation.top()).toMatchObject({ plan: null, error: { code: 'destination_busy' } });
  expect(statuses(model)).toEqual(['running']);
});

test('a load that failed is not done again once another has replaced the same database', async () => {
  const world = fakeWorld({ failLoad: new UserError('disk_full', 'disk full') });
  const model = await listed(world);
  press(model, 'enter');
  for (const failure of [world.failLoad, null]) {
    world.failLoad = failure;
    await load(model, 'app');
    answerConfirm(model, 'go');
    await model.runs.settled();
    press(model, 'esc');
  }
  expect(statuses(model)).toEqual(['failed', 'done']);
  press(model, 't', 'j', 'r');
  expect(statuses(model)).toEqual(['failed', 'done']);
  expect(model.navigation.store.getState().notice?.text).toContain('was started later');
});

test('quitting counts queued runs, and waits for them on request', async () => {
  const gate = Promise.withResolvers<void>();
  const world = fakeWorld({ gate: gate.promise });
  let left = 0;
  const model = await listed(world, { terminal: fakeTerminal({ quit: () => (left += 1) }) });
  await buildTwice(model);
  press(model, 'esc', 'q');
  expect(model.navigation.top().screen).toBe('quit');
  const { answerQuit } = await import('../../../screens/commands/quit.ts');
  answerQuit(model, 'wait');
  gate.resolve();
  await until(() => left === 1);
  expect(world.done).toEqual(['build app', 'build app']);
});

test('a run that ends out of view shows a toast, one in view does not; both stay in the activity', async () => {
  const gate = Promise.withResolvers<void>();
  const model = await listed(fakeWorld({ gate: gate.promise }));
  press(model, 'b');
  await running(model);
  press(model, 'esc');
  gate.resolve();
  await model.runs.settled();
  expect(model.messages.store.getState().toast).toMatchObject({ run: '1', tone: 'good' });
  press(model, 'b');
  await until(() => statuses(model).length === 2);
  await model.runs.settled();
  expect(model.messages.store.getState()).toMatchObject({ toast: { run: '1' }, all: [{ run: '2' }, { run: '1' }] });
  press(model, 'esc', 't', 'j', 'L');
  expect(model.navigation.top()).toMatchObject({ screen: 'run', run: '1', log: true });
});

test('the log is filtered as one types, and written to a file', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'log-'));
  const model = await listed(fakeWorld(), { cwd });
  press(model, 'b');
  await running(model);
  await model.runs.settled();
  press(model, '/', ...'dump', 'enter');
  expect(model.navigation.top()).toMatchObject({ screen: 'run', list: { filter: 'dump' }, typing: null });
  press(model, 'w');
  await until(() => model.navigation.store.getState().notice !== null);
  const [name = ''] = await readdir(cwd);
  expect(model.navigation.store.getState().notice).toEqual({ tone: 'good', text: `Written: ${join(cwd, name)}` });
  expect(await readFile(join(cwd, name), 'utf8')).toContain('command pg_dump -Fd -j2 app');
  await rm(cwd, { recursive: true });
});

function statuses(model: Model): string[] {
  return model.runs.store.getState().runs.map(({ state }) => state.status);
}

async function buildTwice(model: Model): Promise<void> {
  press(model, 'b');
  await running(model);
  press(model, 'esc', 'b');
  await until(() => statuses(model).length === 2);
}

/** Asks about loading the newest snapshot of the target that is shown, until the answer or the refusal is there. */
async function load(model: Model, target: string): Promise<void> {
  await until(() => model.snapshots.getState().targets[target]?.phase === 'ready');
  press(model, 'l');
  await until(() => {
    const place = model.navigation.top();
    return place.screen === 'confirm' && (place.plan ?? place.error) !== null;
  });
}
