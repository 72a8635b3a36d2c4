import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import { answerConfirm } from '../../../screens/confirm/answer.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { fakeBranch } from '../../helpers/fakes/fake-branches.ts';
import { fakeChanges } from '../../helpers/fakes/fake-changes.ts';
import { fakePoints } from '../../helpers/fakes/fake-saves.ts';
import { type FakeWorld, fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';
import { fakeTerminal } from '../../helpers/terminal/fake-terminal.ts';

const found = (model: Model, screen: 'changes' | 'table-diff'): boolean => {
  const route = model.navigation.top();
  return route.screen === screen && 'found' in route && route.found !== null;
};

const noticed = (model: Model): string => model.navigation.store.getState().notice?.text ?? '';

async function opened(world: FakeWorld = fakeWorld(), options: Parameters<typeof listed>[1] = {}): Promise<Model> {
  const model = await listed(world, options);
  press(model, 'D');
  await until(() => found(model, 'changes'));
  return model;
}

/** The lines of the list, without its selection. */
const names = (text: string): string[] =>
  [...text.matchAll(/^[❯ ] ((?:public|sales)\.\S+.*?)(?: {2,}|$)/gm)].map(([, name = '']) => name.trim());

test('D lists the tables by the size of their change, those not compared last, then definitions and sequences', async () => {
  const shown = await screenText(await opened());
  expect(shown).toMatch(/app ❯ changes ─+ 4 tables, 1 definition changed, 57 unchanged/);
  expect(shown).toContain('Since the last load, of snapshot snapshot-0 RAW');
  expect(shown).toMatch(/ADDED {2}CHANGED {2}REMOVED {2}NOTE/);
  expect(shown).toMatch(/❯ public\.order_items +0 {4}1,204 {7}12\n/);
  expect(shown).toMatch(/ {2}public\.customer {21}1 {8}2 {8}1\n/);
  expect(shown).toMatch(/sales\.漢字 🚀 +3 +0 +0 +new table/);
  expect(shown).toMatch(/public\.log +not compared\n/);
  expect(shown).toMatch(/customer \(table\) +definition changed\n.*17 → 60/);
  expect(shown).toMatch(/Removed +12 rows/);
});

test('no line is wider than the window, from 40 to 220 columns', async () => {
  const model = await opened();
  press(model, 'G', 'up', 'up');
  for (const columns of [40, 60, 80, 120, 220]) {
    const shown = await screenText(model, { columns, rows: 24 });
    expect(shown, `${columns}`).toContain('not compared');
    expect(shown).toMatch(/order_items.* 1,204 +12/);
  }
});

test('the screen states what was compared where nothing changed', async () => {
  const none = { tables: [], definitions: [], sequences: [], unchanged: 61 };
  const shown = await screenText(await opened(fakeWorld({ changes: fakeChanges(none) })));
  expect(shown).toContain('Nothing changed in postgres://app@localhost:5432/app_dev');
  expect(shown).toMatch(/since the last load, of snapshot snapshot-0 RAW\.\s+61 tables compared/);
});

test('500 tables scroll with the selected one in view, and the filter finds one', async () => {
  const tables = Array.from({ length: 500 }, (_, index) => ({
    ...{ table: `public.table_${String(index).padStart(3, '0')}`, change: 'changed' as const },
    ...{ added: index, changed: 0, removed: 0 },
  }));
  const model = await opened(fakeWorld({ changes: fakeChanges({ tables, definitions: [], sequences: [] }) }));
  expect(names(await screenText(model))[0]).toBe('public.table_499');
  press(model, 'G');
  expect(await screenText(model)).toMatch(/❯ public\.table_000/);
  press(model, '/', ...'_123', 'enter');
  expect(names(await screenText(model))).toEqual(['public.table_123']);
  press(model, 'esc');
  expect(await screenText(model)).toContain('public.table_000');
});

test('the reading shows its steps and progress; Esc ends it', async () => {
  const world = fakeWorld({ gate: new Promise(() => {}) });
  const model = await listed(world);
  press(model, 'D');
  const route = model.navigation.top();
  await until(() => {
    const { top } = model.navigation;
    const now = top();
    return now.screen === 'changes' && now.state.steps.length > 0;
  });
  const shown = await screenText(model);
  expect(shown).toContain('● Read app_dev');
  expect(shown).toMatch(/█+░+ +24%/);
  expect(shown).toContain('120 MB');
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('targets');
  expect('controller' in route && route.controller.signal.aborted).toBe(true);
  expect(world.done).toEqual(['open changes of app']);
});

test('a failure is shown with what to do, and r reads again', async () => {
  const failChanges = new UserError('load_unknown', 'No load into app_dev is known on this machine', {
    hint: 'Load it first (tool load app)',
  });
  const world = fakeWorld({ failChanges });
  const model = await listed(world);
  press(model, 'D');
  await until(() => 'error' in model.navigation.top() && found(model, 'changes') === false && isFailed(model));
  expect(await screenText(model)).toMatch(/No load into app_dev.*\n.*Load it first/);
  world.failChanges = null;
  press(model, 'r');
  await until(() => found(model, 'changes'));
  expect(await screenText(model)).toContain('public.order_items');
});

const isFailed = (model: Model): boolean => {
  const route = model.navigation.top();
  return 'error' in route && route.error !== null;
};

test('Enter shows the definition and the changed rows of the table; what was stored for them is removed on leaving', async () => {
  const world = fakeWorld();
  const model = await opened(world);
  press(model, 'j', 'enter');
  await until(() => found(model, 'table-diff'));
  const shown = await screenText(model);
  expect(shown).toMatch(/app ❯ public\.customer ─+ snapshot-0 RAW → now/);
  expect(shown).toContain('+     note text,');
  expect(shown).toMatch(/customer_id +email +note/);
  press(model, 'esc');
  expect(world.done).toEqual(['open changes of app']);
  press(model, 'esc');
  await until(() => world.done.length === 2);
  expect(world.done[1]).toBe('close changes of app');
});

test('Enter on a definition shows its lines alone; a sequence has nothing more', async () => {
  const model = await opened();
  press(model, 'G', 'enter');
  expect(noticed(model)).toContain('all of this change');
  press(model, 'up', 'enter');
  await until(() => found(model, 'table-diff'));
  const shown = await screenText(model);
  expect(shown).toMatch(/-\s+note character varying\(20\),\n.*\+ +note text,/);
  expect(shown).not.toContain('added');
});

test('a table that was not compared states why', async () => {
  const model = await opened();
  press(model, 'j', 'j', 'j', 'enter');
  await until(() => found(model, 'table-diff'));
  expect(await screenText(model)).toContain('Rows: not compared: too many or too large rows differ');
});

test('y copies SQL only once personal values are revealed, and writes a file where there is much of it', async () => {
  const copied: string[] = [];
  const world = fakeWorld();
  const model = await opened(world, { terminal: { ...fakeTerminal(), copy: (text) => copied.push(text) } });
  press(model, 'y');
  expect(noticed(model)).toContain('press z to reveal');
  press(model, 'z', 'y');
  await until(() => noticed(model) !== '');
  expect(noticed(model)).toBe('Copied 1 statement of SQL');
  expect(copied).toEqual([world.changes.sql]);
  expect(await screenText(model)).toContain('revealed');
  world.changes.sql = `${'-- long'.repeat(6000)};\n`;
  press(model, 'esc', 'D');
  await until(() => found(model, 'changes'));
  press(model, 'z', 'y');
  await until(() => noticed(model) !== '');
  expect(noticed(model)).toMatch(/Too large to copy\. Wrote 1 statement to \/tool-changes-app-20261121T050000Z\.sql/);
  expect(copied).toHaveLength(1);
});

test('values that were revealed on the list are revealed in the rows', async () => {
  const model = await opened();
  press(model, 'j', 'enter');
  await until(() => found(model, 'table-diff'));
  expect(await screenText(model)).not.toContain('leonie@');
  press(model, 'esc', 'z', 'enter');
  await until(() => found(model, 'table-diff'));
  expect(await screenText(model)).toContain('leonie@');
});

test('U returns to the compared state after a question, and the changes are read again', async () => {
  const world = fakeWorld({ points: fakePoints() });
  const model = await opened(world);
  press(model, 'U');
  await until(() => {
    const route = model.navigation.top();
    return route.screen === 'confirm' && route.plan !== null;
  });
  answerConfirm(model, 'go');
  await model.runs.settled();
  await until(() => world.done.filter((what) => what === 'open changes of app').length === 2);
  expect(world.done).toContain('back app load');
});

test.each([
  ['the points: since the selected save', ['U'], 'open changes of app since before-migration'],
  ['the branches: those of the selected branch', ['B'], 'open changes of app branch login-form'],
])('D on the list of %s', async (_, keys, done) => {
  const world = fakeWorld({ points: fakePoints(), branches: [fakeBranch('login-form')] });
  const model = await listed(world);
  press(model, ...keys);
  await until(() => {
    const route = model.navigation.top();
    return 'found' in route && route.found !== null;
  });
  press(model, 'D');
  await until(() => found(model, 'changes'));
  expect(world.done).toEqual([done]);
  expect(await screenText(model)).toMatch(
    keys.includes('B')
      ? /app ❯ login-form ❯ changes[\s\S]*Since the branch was made or reset, of snapshot/
      : /Since save before-migration/,
  );
});

test('the replaced database cannot be compared with, nor a branch returned to; without a destination there is no D', async () => {
  const world = fakeWorld({ points: fakePoints(), branches: [fakeBranch('login-form')] });
  const model = await listed(world);
  press(model, 'U');
  await until(() => {
    const route = model.navigation.top();
    return route.screen === 'points' && route.found !== null;
  });
  press(model, 'g', 'D');
  expect(noticed(model)).toContain('Not stored');
  press(model, 'esc', 'B');
  await until(() => {
    const route = model.navigation.top();
    return route.screen === 'branches' && route.found !== null;
  });
  press(model, 'D');
  await until(() => found(model, 'changes'));
  press(model, 'U');
  expect(noticed(model)).toContain('reset a branch');
  const without = await listed(fakeWorld({ targets: [fakeTarget({ name: 'app', dst_url: null })] }));
  press(without, 'D');
  expect(noticed(without)).toContain('has no destination');
});

test('with --read-only the changes are shown, and neither copied nor taken back', async () => {
  const model = await opened(fakeWorld(), { readOnly: true });
  for (const key of ['y', 'U']) {
    press(model, key);
    expect(noticed(model)).toContain('--read-only');
  }
});
