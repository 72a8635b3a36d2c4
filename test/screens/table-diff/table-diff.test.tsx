import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import { openDifference } from '../../../screens/commands/table-diff.ts';
import type { TableDifference } from '../../../screens/table-diff/table-diff-route.ts';
import { fakeRows } from '../../helpers/fakes/fake-changes.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { suiteWithColors } from '../../helpers/terminal/colors.ts';
import { renderScreen, screenLines, screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { newModel, press, until } from '../../helpers/terminal/driven-model.ts';

suiteWithColors();

const found = (model: Model): boolean => {
  const route = model.navigation.top();
  return route.screen === 'table-diff' && route.found !== null;
};

async function opened(difference: Partial<TableDifference> = {}): Promise<Model> {
  const model = newModel(fakeWorld());
  openDifference(model, {
    ...{ target: 'app', sides: '8c41f2ab RAW → 1b2c3d4e RAW', table: 'public.customer' },
    read: async (reveal) => ({ definition: [], rows: fakeRows(reveal), rows_not_compared: null, ...difference }),
  });
  await until(() => found(model));
  return model;
}

const revealed = async (): Promise<Model> => {
  const model = await opened();
  press(model, 'z');
  await until(() => found(model));
  return model;
};

test('the key comes first, then the changed columns; old and new values stand one above the other', async () => {
  const lines = await screenLines(await opened());
  expect(lines[1]).toMatch(/^ {2}\+1 added {3}-1 removed {3}~2 changed/);
  expect(lines[2]).toMatch(/z reveals 1 column of personal data/);
  expect(lines[3]).toMatch(/^ {4}customer_id {2}email {7}note/);
  expect(lines[4]).toMatch(/^❯ - {11}2 {2}\*\*\* {9}NULL/);
  expect(lines[5]).toMatch(/^ {2}\+ {10}60 {2}\*\*\* {9}''/);
  expect(lines[6]).toMatch(/^ {2}~ {11}1 {2}\*\*\* .*elit end$/);
  expect(lines[7]).toMatch(/^ {17}· .*elit \\u001b\[2J\\nend$/);
});

test('a masked value that changed says so in one line; revealed it has two', async () => {
  expect(await screenText(await opened())).toMatch(/~ {11}4 {2}\*\*\* → \*\*\* {3}x/);
  const shown = await screenText(await revealed());
  expect(shown).toMatch(/~ {11}4 {2}bjorn@example\.com {3,}x\n {17}xbjorn@example\.com {2,}·/);
});

test('the columns scroll while the key stays, numbers end at the right', async () => {
  const model = await opened();
  press(model, 'right', 'right');
  const shown = await screenText(model);
  expect(shown).toMatch(/^‹ {3}customer_id {2}first_name {2}amount/m);
  expect(shown).toMatch(/- {11}2 {2}Leonie {8}7\.50\n {2}\+ {10}60 {2}漢字漢字 {5}12345/);
  press(model, ...Array(9).fill('right'));
  expect(await screenText(model)).toMatch(/^‹ {3}customer_id {2}amount/m);
});

test('`a` shows the key and the changed columns only; the others come back with it', async () => {
  const model = await opened();
  press(model, 'right', 'right', 'a');
  const lines = await screenLines(model);
  expect(lines[3]).toMatch(/^ {4}customer_id {2}email +note *$/);
  press(model, 'a');
  expect((await screenLines(model))[3]).toMatch(/note +›$/);
});

/** Of the 256 colours. */
const [BAD, GOOD] = [203, 114];

test('the changed part is in colour and in brackets, the rest of the record is counted', async () => {
  const model = await revealed();
  press(model, 'G');
  const shown = await screenText(model);
  expect(shown).toMatch(/─ customer_id 4 ─/);
  expect(shown).toMatch(/email {2}bjorn@example\.com → \[x\]bjorn@example\.com/);
  expect(shown).toContain('4 other columns unchanged');
  const rendered = renderScreen(model);
  const lines = await rendered.screen();
  const row = lines.findIndex((line) => line.includes('bjorn@'));
  const at = lines[row]?.indexOf('bjorn@') ?? 0;
  const colorsOf = async (line: number) => (await rendered.colors(line))[at]?.text;
  expect([await colorsOf(row), await colorsOf(row + 1)]).toEqual([BAD, GOOD]);
  rendered.unmount();
});

test('Enter shows the whole record with both values in full', async () => {
  const model = await opened();
  press(model, 'j', 'j', 'enter');
  const shown = await screenText(model);
  expect(shown).toMatch(/public\.customer ❯ customer_id 1/);
  expect(shown.match(/lorem ipsum/g)).toHaveLength(4);
  expect(shown).toMatch(/- lorem[\s\S]*\+ lorem/);
  expect(shown).toMatch(/\[\\u001b\[2J\\n\]end/);
  expect(shown).toMatch(/first_name +Luís/);
  press(model, 'esc', 'esc');
  expect(model.navigation.top().screen).toBe('targets');
});

test('the filter finds rows by their old and new values; Esc shows all again', async () => {
  const model = await opened();
  press(model, '/', ...'bjørn', 'enter');
  expect(await screenText(model)).not.toMatch(/Leonie|\+ {10}60/);
  press(model, '/', ...'xyz', 'enter');
  expect(await screenText(model)).toContain('Nothing matches the filter');
  press(model, 'esc');
  expect(await screenText(model)).toMatch(/\+ {10}60/);
});

test('Tab moves to a long definition, which scrolls in its pane', async () => {
  const definition = Array.from({ length: 40 }, (_, line) => ({ change: 'added' as const, text: `line ${line}` }));
  const model = await opened({ definition });
  expect(await screenText(model)).toMatch(/❯ -/);
  press(model, 'tab', 'G');
  const shown = await screenText(model);
  expect(shown).toMatch(/❯ \+ line 39/);
  expect(shown).not.toContain('line 0\n');
  press(model, 'tab', 'j', 'enter');
  expect(await screenText(model)).toContain('customer_id 60');
});

test('the screen states why rows were not compared', async () => {
  const none = await opened({ rows: null, rows_not_compared: 'columns_differ', definition: null });
  const shown = await screenText(none);
  expect(shown).toContain('Rows: not compared: no column is in both');
  expect(shown).toContain('Definition: its format in these snapshots is unknown');
  const same = await opened({ rows: { ...fakeRows(false), added: 0, removed: 0, changed: 0, samples: [] } });
  expect(await screenText(same)).toContain('the same, in another order');
});

test('a table without a primary key has no fixed column and no changed rows', async () => {
  const { samples, ...rows } = fakeRows(false);
  const model = await opened({ rows: { ...rows, key: [], changed: null, samples: samples.slice(0, 2) } });
  const shown = await screenText(model);
  expect(shown).toMatch(/\+1 added {3}-1 removed {3}without a key/);
  expect(shown).toMatch(/─ row 1 ─/);
});

test('the number of rows is shown where there are more', async () => {
  expect(await screenText(await opened({ rows: { ...fakeRows(false), changed: 1204 } }))).toContain('first 4 rows');
});

test('no line is wider than the window, at any size and with any column first', async () => {
  const model = await revealed();
  for (const columns of [40, 60, 80, 121, 220]) {
    for (let step = 0; step < 4; step += 1) {
      const lines = await screenLines(model, { columns, rows: 24 });
      expect(lines.filter((line) => line.includes('customer_id')).length, `${columns}`).toBeGreaterThan(0);
      press(model, 'right');
    }
    press(model, ...Array(4).fill('left'));
  }
});

test('a value that is cut states its length, and that it differs later', async () => {
  const cut = [2, 3].map((row) => ({ row, column: 4, bytes: 300_000 }));
  const { samples, ...rows } = fakeRows(false);
  const same = samples.map(({ values, ...sample }) => ({ ...sample, values: values.with(4, 'long') }));
  const model = await opened({ rows: { ...rows, samples: same, cut } });
  press(model, 'j', 'j', 'enter');
  expect(await screenText(model)).toMatch(/note +long… \(300 kB\) → long… \(300 kB\)\[ differs later\]/);
});

test('the selected record is in view with both lines, in the middle of many as well as at the ends', async () => {
  const samples = Array.from({ length: 60 }, (_, id) => [
    { change: 'before' as const, values: ['old', `${id}`, null, '1', ''] },
    { change: 'after' as const, values: ['new', `${id}`, null, '1', ''], changed_columns: ['first_name'] },
  ]).flat();
  const model = await opened({ rows: { ...fakeRows(false), added: 0, removed: 0, changed: 60, samples } });
  for (const columns of [40, 80]) {
    for (const [key, id] of Object.entries({ G: 59, up: 58, g: 0, down: 1 })) {
      press(model, key);
      const shown = await screenText(model, { columns, rows: 15 });
      expect(shown, `${columns} ${key}`).toMatch(new RegExp(`^❯ ~ +${id} {2}old.*\\n {17}new`, 'm'));
    }
  }
});
