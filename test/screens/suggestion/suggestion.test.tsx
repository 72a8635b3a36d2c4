import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import type { Routes } from '../../../screens/app/route.ts';
import { rowsOf } from '../../../screens/suggestion/suggestion-route.ts';
import { type FakeWorld, fakeSnapshot, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';

const SIZE = { columns: 80, rows: 24 };

test('sanitize without a query asks, then shows a checklist whose replacements have been tried', async () => {
  const world = fakeWorld({ noQuery: true });
  const model = await snapshotsListed(world);
  press(model, 's');
  await until(() => model.navigation.top().screen === 'choice');
  expect(model.navigation.top()).toMatchObject({ question: 'app has no sanitization query. Suggest one?' });
  expect(world.done).toEqual([]);
  await answer(model, 'go');
  const shown = await screenText(model, SIZE);
  expect(shown).toMatch(/● public\.person\.email .*a\*\*@.*u\*\*\* by mask/);
  expect(shown).toContain('○ public.person.nickname');
  expect(shown).toContain('2 of 4 columns replaced');
  expect(shown).toContain('Copy restored in 1.2 s. 2 replacements tried on 10 rows in 84 ms: no errors');
  expect(shown).toMatch(/Foreign keys +change alike: public\.login\.email/);
});

test('Space leaves a column and those that a foreign key connects with it, and takes them back', async () => {
  const model = await suggested();
  press(model, 'space');
  await tried(model);
  expect(states(model)).toEqual({ email: 'leave', nickname: 'choose', label: 'generated', 'login.email': 'leave' });
  press(model, 'G', 'space');
  await tried(model);
  expect(states(model)).toMatchObject({ email: 'replace', 'login.email': 'replace' });
  press(model, 'k', 'space');
  expect(notice(model)).toBe('The column is generated from other columns: change those');
});

test('Enter edits the new value, and shows at once what the server makes of it', async () => {
  const model = await suggested();
  press(model, 'j', 'enter', ...'wrong', 'enter');
  await tried(model);
  expect(await screenText(model, SIZE)).toMatch(
    /✗ public\.person\.nickname.*column "wrong".*…[\s\S]*Error +column "wrong" does not exist/,
  );
  press(model, 'V');
  await until(() => notice(model)?.includes('tried on') ?? false);
  expect(notice(model)).toBe('3 replacements tried on 10 rows in 84 ms: 1 error');
  press(model, 'enter', ...Array(5).fill('backspace'), ..."'x'", 'enter');
  await tried(model);
  expect(await screenText(model, SIZE)).toContain('● public.person.nickname');
  press(model, 'enter', ...'yz', 'esc');
  expect(rowsOf(suggestion(model)).find(({ name }) => name === 'nickname')?.sql).toBe("'x'");
});

test('one side of a foreign key that gets another value is told of the other side', async () => {
  const model = await suggested();
  press(model, 'enter', ...Array(11).fill('backspace'), ...'lower(email)', 'enter');
  expect(notice(model)).toBe('Give public.login.email an equal value: a foreign key connects them');
});

test('a reason keeps a left column; w shows the new file before anything is written, and saving closes the copy', async () => {
  const world = fakeWorld({ noQuery: true });
  const model = await suggested(world);
  press(model, 'space', 'enter', ...'they agreed', 'enter');
  await tried(model);
  expect(states(model)).toMatchObject({ email: 'keep', 'login.email': 'leave' });
  press(model, 'w');
  await until(() => saving(model)?.found != null);
  expect(saving(model)?.found?.shown.after).toContain('-- keep: public.person.email they agreed');
  const shown = await screenText(model, SIZE);
  expect(shown).toContain('Create /home/ada/app.sanitize.sql');
  expect(shown).toContain('Set targets.app.sanitize.query_file to ./app.sanitize.sql in');
  expect(shown).toMatch(/1 \+ -- A first query/);
  expect(world.done).toEqual(['open the suggestion of app']);
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('suggestion');
  press(model, 'w');
  await until(() => saving(model)?.found != null);
  press(model, 'enter');
  await until(() => model.navigation.top().screen === 'snapshots');
  await until(() => world.done.length === 3);
  expect(world.done.toSorted()).toEqual([
    'close the suggestion of app',
    'open the suggestion of app',
    expect.stringMatching(/^write \/home\/ada\/app\.sanitize\.sql/),
  ]);
});

test('choices that are not saved are not lost without a question; Esc then closes the copy', async () => {
  const world = fakeWorld({ noQuery: true });
  const model = await suggested(world);
  press(model, 'space', 'esc');
  expect(model.navigation.top()).toMatchObject({ screen: 'choice', question: 'Leave without saving the query?' });
  press(model, 'esc');
  expect(suggestion(model).changed).toBe(true);
  press(model, 'esc');
  choose(model, 'leave');
  await until(() => world.done.includes('close the suggestion of app'));
  expect(model.navigation.top().screen).toBe('snapshots');
});

test('no suggestion is available with --read-only', async () => {
  const model = await snapshotsListed(fakeWorld({ noQuery: true }), { readOnly: true });
  press(model, 's');
  expect(notice(model)).toBe('Started with --read-only: nothing is changed');
});

async function snapshotsListed(world: FakeWorld, options = {}): Promise<Model> {
  world.snapshots.app = [fakeSnapshot({ id: 'aaaa0000' })];
  const model = await listed(world, options);
  press(model, 'enter');
  await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
  return model;
}

async function suggested(world = fakeWorld({ noQuery: true })): Promise<Model> {
  const model = await snapshotsListed(world);
  press(model, 's');
  await until(() => model.navigation.top().screen === 'choice');
  await answer(model, 'go');
  return model;
}

async function answer(model: Model, value: string): Promise<void> {
  choose(model, value);
  await until(() => model.navigation.top().screen === 'suggestion' && suggestion(model).trial !== null);
}

function choose(model: Model, value: string): void {
  const route = model.navigation.top();
  if (route.screen !== 'choice') throw new Error(`${route.screen} is no choice`);
  model.navigation.pop();
  route.answer(value);
}

function suggestion(model: Model): Routes['suggestion'] {
  const route = model.navigation.top();
  if (route.screen !== 'suggestion') throw new Error(`${route.screen} is shown`);
  return route;
}

function saving(model: Model): Routes['save-query'] | null {
  const route = model.navigation.top();
  return route.screen === 'save-query' ? route : null;
}

function tried(model: Model): Promise<void> {
  return until(() => !suggestion(model).trying);
}

function states(model: Model): Record<string, string> {
  return Object.fromEntries(
    rowsOf(suggestion(model)).map(({ column, state }) => [column.replace(/^public\.(person\.)?/, ''), state]),
  );
}

function notice(model: Model): string | undefined {
  return model.navigation.store.getState().notice?.text;
}
