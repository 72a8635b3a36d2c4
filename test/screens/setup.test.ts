import { expect, test } from 'vitest';
import { dispatchKey, dispatchPaste } from '../../screens/dispatch.ts';
import { createModel, type Model } from '../../screens/model.ts';
import { setUp } from '../../screens/setup/actions.ts';
import { fakeOperations } from '../helpers/fake-operations.ts';
import { fakeTerminal } from '../helpers/fake-terminal.ts';
import { type FakeWorld, fakeWorld } from '../helpers/fake-world.ts';

const SOURCE = 'postgres://app:secret@db:5432/shop';

test('nothing is written before the end, and then what was answered is', async () => {
  const world = fakeWorld({ targets: [] });
  const model = opened(world);
  await answer(model, 'tool.yml', 1);
  await answer(model, 'shop', 2);
  await answer(model, SOURCE, 3);
  expect(model.navigation.top()).toMatchObject({ tried: expect.stringContaining('15.18') });
  await answer(model, 'postgres://localhost/shop_dev', 4);
  expect(model.navigation.top()).toMatchObject({ preview: 'targets:\n  shop:\n', typing: null });
  expect(world.done).toEqual([]);
  dispatchKey(model, 'enter');
  const answers = { file: 'tool.yml', target: 'shop', source: SOURCE, destination: 'postgres://localhost/shop_dev' };
  await expect.poll(() => world.done).toEqual([`set up ${JSON.stringify(answers)}`]);
});

test('a source that does not answer is asked for again, and keeps what was typed', async () => {
  const model = opened(fakeWorld());
  await answer(model, 'tool.yml', 1);
  await answer(model, 'shop', 2);
  dispatchPaste(model, 'postgres://app:secret@away/shop');
  dispatchKey(model, 'enter');
  const failed = { step: 2, error: { message: expect.stringContaining('connection refused') } };
  await expect.poll(() => model.navigation.top()).toMatchObject(failed);
  expect(model.navigation.top()).toMatchObject({ typing: { text: 'postgres://app:secret@away/shop' } });
});

test('Esc goes back by one question, which still has its answer', async () => {
  const model = opened(fakeWorld());
  await answer(model, 'other.yml', 1);
  dispatchKey(model, 'esc');
  expect(model.navigation.top()).toMatchObject({ step: 0, typing: { text: 'other.yml' } });
  dispatchKey(model, 'esc');
  expect(model.navigation.top().screen).toBe('targets');
});

function opened(world: FakeWorld): Model {
  const model = createModel({
    operations: fakeOperations(world),
    terminal: fakeTerminal(),
    clock: () => new Date('2026-11-21T05:00:00Z'),
  });
  setUp(model);
  return model;
}

async function answer(model: Model, text: string, next: number): Promise<void> {
  dispatchKey(model, 'ctrl+u');
  dispatchPaste(model, text);
  dispatchKey(model, 'enter');
  await expect.poll(() => model.navigation.top()).toMatchObject({ step: next, busy: false });
}
