import { expect, test } from 'vitest';
import { dispatchMouse } from '../../../screens/app/dispatch.ts';
import { readMouse } from '../../../screens/app/terminal/mouse.ts';
import { helpLines } from '../../../screens/help/help-screen.tsx';
import { entriesInView } from '../../../screens/palette/entries.ts';
import { fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { listed, press } from '../../helpers/terminal/driven-model.ts';

test('some letters of an action find it, and Enter does it where the palette was opened', async () => {
  const world = fakeWorld();
  const model = await listed(world);
  press(model, ':', ...'snapsh', 'enter');
  await expect.poll(() => model.navigation.top().screen).toBe('run');
  await model.runs.settled();
  expect(world.done).toEqual(['build app']);
});

test('impossible commands are found too, with the reason', async () => {
  const model = await listed(fakeWorld({ targets: [fakeTarget({ name: 'app', src_url: null })] }));
  press(model, ':', ...'build');
  const place = model.navigation.top();
  expect(place.screen === 'palette' && entriesInView(model, place)[0]?.reason).toContain('no source database');
  press(model, 'enter');
  expect(model.navigation.store.getState().notice?.text).toContain('no source database');
  expect(model.navigation.top().screen).toBe('targets');
});

test('a selector of a snapshot offers to load it', async () => {
  const model = await listed(fakeWorld());
  press(model, ':', ...'app@main');
  const place = model.navigation.top();
  expect(place.screen === 'palette' && entriesInView(model, place)[0]).toMatchObject({
    name: 'Load app@main…',
    reason: null,
  });
  press(model, 'enter');
  expect(model.navigation.top()).toMatchObject({ screen: 'confirm', target: 'app', title: 'load app@main' });
  press(model, 'esc', ':', ...'nobody@main');
  const other = model.navigation.top();
  expect(other.screen === 'palette' && entriesInView(model, other)).toEqual([]);
});

test('every target can be gone to from everywhere', async () => {
  const model = await listed(fakeWorld({ targets: ['app', 'billing'].map((name) => fakeTarget({ name })) }));
  press(model, 'enter', ':', ...'gobilling', 'enter');
  expect(model.navigation.top()).toMatchObject({ screen: 'snapshots', target: 'billing' });
});

test('the wheel moves, a click selects, and a click on what is selected opens it', async () => {
  const model = await listed(fakeWorld({ targets: ['a', 'b', 'c', 'd'].map((name) => fakeTarget({ name })) }));
  model.viewport.keys = ['a', 'b', 'c', 'd'];
  const mouse = (sequence: string) => dispatchMouse(model, readMouse(sequence) ?? { kind: 'other' });
  mouse('\x1b[<65;10;5M');
  expect(model.navigation.top()).toMatchObject({ list: { selected: 'd' } });
  // Title, titles of the columns: the second row is the fourth line.
  mouse('\x1b[<0;10;4M');
  expect(model.navigation.top()).toMatchObject({ list: { selected: 'b' } });
  mouse('\x1b[<0;10;4m');
  expect(model.navigation.top().screen).toBe('targets');
  mouse('\x1b[<0;10;4M');
  expect(model.navigation.top()).toMatchObject({ screen: 'snapshots', target: 'b' });
});

test('commands are verbs: a name begins with a capital, and dots tell that it asks first', async () => {
  const model = await listed(fakeWorld());
  press(model, ':');
  const route = model.navigation.top();
  const names = route.screen === 'palette' ? entriesInView(model, route).map(({ name }) => name) : [];
  expect(names).toEqual(expect.arrayContaining(['Build snapshot', 'Load latest snapshot…', 'Go to app']));
  expect(names.filter((name) => !/^[A-Z][a-z]+\b/.test(name))).toEqual([]);
});

test('the help is grouped, and its filter finds keys by name and by what they do', async () => {
  const model = await listed(fakeWorld());
  const of = model.navigation.top();
  const text = (filter: string) =>
    helpLines(model, { of, filter, width: 70 }).map((spans) => spans.map((span) => span.text).join(''));
  expect(text('').filter((line) => ['Commands', 'Movement', 'Everywhere'].includes(line))).toHaveLength(3);
  expect(text('newest')[1]).toMatch(/^l +restore the newest snapshot/);
  expect(text('Ctrl-F').join('\n')).toMatch(/^Movement\nPgDn, Ctrl-F +a page down/);
  expect(text('nothing like it')).toEqual(['No key matches the filter. Press Esc to show all keys.']);
});
