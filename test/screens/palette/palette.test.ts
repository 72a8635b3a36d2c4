import { expect, test } from 'vitest';
import { dispatchMouse } from '../../../screens/app/dispatch.ts';
import type { Model } from '../../../screens/app/model.ts';
import { readMouse } from '../../../screens/app/terminal/mouse.ts';
import { helpLines } from '../../../screens/help/help-screen.tsx';
import { entriesInView } from '../../../screens/palette/entries.ts';
import { fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenLines } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';
import { fakeTerminal } from '../../helpers/terminal/fake-terminal.ts';

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

/** Names of the entries that the typed text finds. */
function found(model: Model, text: string): string[] {
  press(model, ':', ...text);
  const route = model.navigation.top();
  const names = route.screen === 'palette' ? entriesInView(model, route).map(({ name }) => name) : [];
  press(model, 'esc');
  return names;
}

test('whole words come first, then beginnings of words, then letters; what removes or reverts comes after its like', async () => {
  const model = await listed(fakeWorld({ targets: ['load', 'app'].map((name) => fakeTarget({ name })) }));
  expect(found(model, 'load').slice(0, 2)).toEqual(['Load latest snapshot…', 'Go to load']);
  press(model, 'j', 'enter');
  await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
  const names = found(model, 'load');
  expect(names[0]).toBe('Load snapshot…');
  expect(names.indexOf('Undo load…')).toBeGreaterThan(names.indexOf('Go to load'));
  expect(found(model, 'undo')[0]).toBe('Undo load…');
  expect(found(model, 'rem')[0]).toMatch(/^Remove snapshot/);
  const all = found(model, '');
  const last = ['Remove snapshot…', 'Prune snapshots…', 'Undo load…', 'Reset destination…'];
  expect(all.slice(-5)).toEqual(expect.arrayContaining(last));
});

test('a snapshot is opened by its id, a setting in the editor, a theme is used in this session', async () => {
  const used: string[] = [];
  const terminal = fakeTerminal({ useTheme: (name) => used.push(name) });
  const model = await listed(fakeWorld(), { terminal });
  press(model, 'enter');
  await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
  press(model, 'esc', ':', ...'snapshot-0', 'enter');
  expect(model.navigation.top()).toMatchObject({ screen: 'snapshots', list: { selected: 'snapshot-0' } });
  press(model, ':');
  await until(() => {
    const route = model.navigation.top();
    return route.screen === 'palette' && route.settings.length > 0;
  });
  press(model, ...'theme light-16', 'enter');
  expect(used).toEqual(['light-16']);
  press(model, ':');
  await until(() => {
    const route = model.navigation.top();
    return route.screen === 'palette' && route.settings.length > 0;
  });
  press(model, ...'saves.keep', 'enter');
  expect(model.navigation.top().screen).toBe('editor');
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

test('keys that fill more than a page stand in two columns of a wide window', async () => {
  const model = await listed(fakeWorld());
  press(model, '?');
  const narrow = await screenLines(model, { columns: 80, rows: 40 });
  expect(narrow[0]).toMatch(/lines 1–35 of/);
  const wide = await screenLines(model, { columns: 140, rows: 40 });
  expect(wide[0]).not.toContain('lines');
  expect(wide.join('\n')).toMatch(/Commands[\s\S]*Movement[\s\S]*Everywhere/);
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
