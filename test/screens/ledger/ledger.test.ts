import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import type { Routes } from '../../../screens/app/route.ts';
import { rowsOf } from '../../../screens/ledger/ledger-route.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { type FakeWorld, fakeSnapshot, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';

test('each open column is classified with one key, written at once, and the next open one is selected', async () => {
  const world = fakeWorld({});
  const model = await reviewing(world);
  expect(await screenText(model, { columns: 80, rows: 24 })).toContain('5 of 5 open');
  press(model, 'c');
  expect(selected(model)).toBe('public.orders.state');
  press(model, 'k', ...'no person');
  expect(await screenText(model, { columns: 80, rows: 24 })).toMatch(
    /Keep public\.orders\.state because: no person[\s\S]*Enter keep +Esc cancel/,
  );
  press(model, 'enter');
  press(model, 'k', ...'a time', 'enter');
  press(model, 'e', 'c');
  await route(model).saving;
  expect(world.done).toEqual([
    'classify app: public.event.payload->kind changed',
    'classify app: public.orders.state kept: no person',
    'classify app: public.person.created_at kept: a time',
    'classify app: public.person.nickname empty',
    'classify app: public.person.remarks changed',
  ]);
  expect(rowsOf(route(model))[1]?.entry).toEqual({ state: 'kept', reason: 'no person', values: ['new', 'paid'] });
  const shown = await screenText(model, { columns: 160, rows: 24 });
  expect(shown).toContain('all 5 classified');
  expect(notice(model)).toContain('All columns are classified');
});

test('shows the other columns of the table with their classes, also those just answered', async () => {
  const model = await reviewing(fakeWorld({}));
  press(model, 'down', 'down', 'c');
  expect(selected(model)).toBe('public.person.nickname');
  press(model, 'down');
  const shown = await screenText(model, { columns: 120, rows: 30 });
  expect(shown).toMatch(/Values +l\*\*\*\* \*\*\*/);
  expect(shown).toMatch(/Changed +first_name, last_name, email, phone, created_at/);
  expect(shown).toMatch(/Kept +id/);
  expect(shown).toMatch(/Open +nickname/);
});

test('undo takes back one answer after the other', async () => {
  const world = fakeWorld({});
  const model = await reviewing(world);
  press(model, 'u');
  expect(notice(model)).toBe('No answer to undo');
  press(model, 'c', 'c', 'u');
  expect(selected(model)).toBe('public.orders.state');
  press(model, 'u');
  expect(selected(model)).toBe('public.event.payload->kind');
  await route(model).saving;
  expect(world.done.slice(2)).toEqual([
    'classify app: public.orders.state open',
    'classify app: public.event.payload->kind open',
  ]);
  expect(rowsOf(route(model)).every(({ entry }) => entry.state === 'open')).toBe(true);
});

test('refuses a class that the result contradicts, and a column that is kept without a reason', async () => {
  const world = fakeWorld({});
  const model = await reviewing(world);
  press(model, 'e');
  expect(notice(model)).toBe('public.event.payload->kind has 500 values after the query: it is not empty');
  press(model, 'x');
  expect(notice(model)).toBe(
    'The table of public.event.payload->kind has 500 rows after the query: it is not excluded',
  );
  press(model, 'k', 'enter');
  expect(notice(model)).toBe('A column is kept with a reason');
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('ledger');
  expect(world.done).toEqual([]);
});

test('an answer that cannot be written is open again, and the reason is shown', async () => {
  const failLedger = new UserError('file_not_written', 'Cannot write the ledger', { hint: 'Nothing was changed' });
  const model = await reviewing(fakeWorld({ failLedger }));
  press(model, 'c');
  await route(model).saving;
  expect(notice(model)).toBe('Cannot write the ledger. Nothing was changed');
  expect(rowsOf(route(model))[0]?.entry.state).toBe('open');
  press(model, 'u');
  expect(notice(model)).toBe('No answer to undo');
});

async function reviewing(world: FakeWorld): Promise<Model> {
  world.snapshots = { app: [fakeSnapshot()] };
  const model = await listed(world);
  press(model, 'J');
  await until(() => model.navigation.top().screen === 'choice');
  const top = model.navigation.top();
  if (top.screen !== 'choice') throw new Error('no question');
  expect(top.question).toBe('Classify the columns of app?');
  model.navigation.pop();
  top.answer('go');
  await until(() => route(model).found !== null);
  return model;
}

function route(model: Model): Routes['ledger'] {
  const top = model.navigation.top();
  if (top.screen !== 'ledger') throw new Error(`on ${top.screen}`);
  return top;
}

function selected(model: Model): string | null {
  return route(model).list.selected;
}

function notice(model: Model): string | undefined {
  return model.navigation.store.getState().notice?.text;
}
