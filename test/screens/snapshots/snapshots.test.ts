import { expect, test } from 'vitest';
import { createModel } from '../../../screens/app/create-model.ts';
import { refreshTargets } from '../../../screens/app/lists/refresh.ts';
import type { Model } from '../../../screens/app/model.ts';
import { answerConfirm } from '../../../screens/confirm/answer.ts';
import { tablesInView } from '../../../screens/tables/tables-route.ts';
import { selectedTarget } from '../../../screens/targets/targets-route.ts';
import type { SnapshotRow } from '../../../src/results/results.ts';
import type { TableDiff } from '../../../src/results/review/diff-results.ts';
import { fakeOperations } from '../../helpers/fakes/fake-operations.ts';
import { type FakeWorld, fakeSnapshot, fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenLines } from '../../helpers/terminal/drawn-screen.tsx';
import { press } from '../../helpers/terminal/driven-model.ts';
import { fakeTerminal } from '../../helpers/terminal/fake-terminal.ts';

const three = [0, 1, 2].map((index) => fakeSnapshot({ index }));

test('the tables of a snapshot are there when one opens it', async () => {
  const model = await atSnapshots(fakeWorld());
  press(model, 'right');
  expect(model.navigation.top()).toMatchObject({ screen: 'tables' });
  await expect.poll(() => tablesShown(model)).toMatchObject([{ table: 'public.orders' }, {}, {}]);
});

test('results found in the background are shown on return', async () => {
  const model = await atSnapshots(fakeWorld());
  press(model, 'right', '?');
  await new Promise((resolve) => setImmediate(resolve));
  press(model, 'esc');
  expect(tablesShown(model)).toMatchObject([{}, {}, {}]);
});

function tablesShown(model: Model) {
  const route = model.navigation.top();
  return route.screen === 'tables' ? tablesInView(model, route) : null;
}

test.each([
  { keys: ['m', 'G', 'm', 'C'], title: 'snapshot-2 RAW → snapshot-0 RAW' },
  { keys: ['m', 'j', 'C'], title: 'snapshot-1 RAW → snapshot-0 RAW' },
  { keys: ['m', 'j', 'm', 'j', 'm', 'C'], title: 'snapshot-2 RAW → snapshot-1 RAW' },
  { keys: ['m', 'm', 'C'], title: 'snapshot-0 RAW → destination' },
])('$keys compares $title', async ({ keys, title }) => {
  const model = await atSnapshots(fakeWorld({ snapshots: { app: three } }));
  press(model, ...keys);
  expect(model.navigation.top()).toMatchObject({ screen: 'diff', title });
  await expect.poll(() => model.navigation.top()).toMatchObject({ found: { unchanged: 23 } });
});

test('marked tables are loaded, after what they need was shown', async () => {
  const world = fakeWorld();
  const model = await atTables(world);
  press(model, 'space', 'j', 'j', 'm', 'k', 'space', 'm');
  expect(model.navigation.top()).toMatchObject({ marked: ['public.orders', 'sales.漢字 🚀'] });
  press(model, 'l');
  answerChoice(model, 'database');
  expect(model.navigation.top()).toMatchObject({ screen: 'confirm', title: 'load 2 tables of snapshot-0 RAW' });
  await expect.poll(() => model.navigation.top()).toMatchObject({ plan: { definition: { kind: 'load' } } });
  answerConfirm(model, 'go');
  await model.runs.settled();
  expect(world.done).toEqual(['load app public.orders sales.漢字 🚀']);
  expect(model.runs.store.getState().runs[0]?.summary).toMatchObject({
    line: expect.stringContaining('Loaded 2 tables of snapshot 0 of app (snapshot-0 RAW) into'),
    details: [
      'Tables: public.orders, sales.漢字 🚀',
      'Required tables: public.customer (public.orders refers to it)',
      'Left empty: the other 22 tables',
      'Verified against the manifest: rows, indexes, constraints, triggers, sequences',
    ],
    unavailable: { what: 'app_dev', ms: 130 },
    undo: { database: 'app_dev', command: 'tool undo app' },
  });
  press(model, 'esc');
  expect(model.navigation.top()).toMatchObject({ screen: 'tables', marked: ['public.orders', 'sales.漢字 🚀'] });
});

test('only the rows of marked tables are loaded where that is chosen', async () => {
  const world = fakeWorld();
  const model = await atTables(world);
  press(model, 'space', 'l');
  answerChoice(model, 'rows');
  expect(model.navigation.top()).toMatchObject({ screen: 'confirm', title: 'load rows of 1 table of snapshot-0 RAW' });
  await expect.poll(() => model.navigation.top()).toMatchObject({ plan: { definition: { kind: 'load' } } });
  answerConfirm(model, 'go');
  await model.runs.settled();
  expect(world.done).toEqual(['load app public.orders --only']);
});

function answerChoice(model: Awaited<ReturnType<typeof atTables>>, value: string): void {
  const route = model.navigation.top();
  if (route.screen !== 'choice') throw new Error('no choice is open');
  expect(route.options.map((option) => option.value)).toEqual(['database', 'rows']);
  model.navigation.pop();
  route.answer(value);
}

test('tables are found by some letters of their names, and marks stay while others are shown', async () => {
  const model = await atTables(fakeWorld());
  press(model, '/', ...'items', 'enter', 'space', 'esc', '/', ...'sales', 'enter', 'm', '/', ...'nothing');
  expect(model.navigation.top()).toMatchObject({ screen: 'tables', typing: { text: 'salesnothing' } });
  press(model, 'enter', 'space', 'esc');
  const marked = ['public.order_items', 'sales.漢字 🚀'];
  expect(model.navigation.top()).toMatchObject({ screen: 'tables', list: { filter: '' }, marked });
  press(model, 'esc');
  expect(model.navigation.top()).toMatchObject({ screen: 'snapshots' });
});

test('load is unavailable without a marked table, and without a destination', async () => {
  const model = await atTables(fakeWorld());
  press(model, 'l');
  expect(notice(model)).toBe('Mark the tables to load first: press Space');
  const nowhere = await atTables(fakeWorld({ targets: [fakeTarget({ name: 'app', dst_url: null })] }));
  press(nowhere, 'space', 'l');
  expect(notice(nowhere)).toBe('app has no destination (snapshot.dst_url)');
});

test('compare is unavailable without another snapshot and a destination', async () => {
  const model = await atSnapshots(fakeWorld({ targets: [fakeTarget({ name: 'app', dst_url: null })] }));
  press(model, 'C');
  expect(notice(model)).toContain('Mark another snapshot');
});

test('a snapshot is pushed where there is a bucket, and then is there already', async () => {
  const world = fakeWorld({ targets: [fakeTarget({ name: 'app', storage_profile: 'bucket' })] });
  const model = await atSnapshots(world);
  press(model, 'p');
  expect(notice(model)).toBe('It is on this machine already');
  press(model, 'P');
  await model.runs.settled();
  expect(world.done).toEqual(['push app snapshot-0']);
  press(model, 'esc', 'P');
  expect(notice(model)).toBe('It is in the bucket already');
});

test('marked snapshots are removed after one question, and pushed one after the other', async () => {
  const targets = [fakeTarget({ name: 'app', storage_profile: 'bucket' })];
  const world = fakeWorld({ targets, snapshots: { app: three } });
  const model = await atSnapshots(world);
  press(model, 'space', 'j', 'j', 'space', 'P');
  await model.runs.settled();
  expect(world.done).toEqual(['push app snapshot-0', 'push app snapshot-2']);
  press(model, 'esc', 'esc');
  if (model.navigation.top().screen !== 'snapshots') press(model, 'esc');
  expect(model.navigation.top()).toMatchObject({ screen: 'snapshots', marked: ['snapshot-0', 'snapshot-2'] });
  press(model, 'd');
  expect(model.navigation.top()).toMatchObject({ screen: 'confirm', title: 'remove 2 snapshots' });
  await expect.poll(() => model.navigation.top()).toMatchObject({ plan: { question: { go: 'Remove 2 snapshots' } } });
  answerConfirm(model, 'go');
  await model.runs.settled();
  expect(world.done.at(-1)).toBe('remove app snapshot-0 snapshot-2');
});

test('prune asks for a rule, and previews what it removes', async () => {
  const world = fakeWorld({ snapshots: { app: [...three, ...[3, 4].map((index) => fakeSnapshot({ index }))] } });
  const model = await atSnapshots(world);
  press(model, 'K');
  expect(model.navigation.top()).toMatchObject({ screen: 'choice', path: ['app', 'prune'] });
  const choose = (label: string) => {
    const top = model.navigation.top();
    if (top.screen !== 'choice') throw new Error(`on ${top.screen}`);
    model.navigation.pop();
    top.answer(label);
  };
  choose('Keep the 5 newest');
  await expect
    .poll(() => model.navigation.top())
    .toMatchObject({ plan: { question: { ask: 'Nothing to remove.', consequence: 'Every snapshot is kept.' } } });
  press(model, 'esc', 'K');
  choose('Keep the 3 newest');
  await expect.poll(() => model.navigation.top()).toMatchObject({ plan: { question: { go: 'Remove 2 snapshots' } } });
  answerConfirm(model, 'go');
  await model.runs.settled();
  expect(world.done).toEqual(['remove app snapshot-3 snapshot-4']);
});

test('a pin and tags are written, shown, found by the filter, and removed', async () => {
  const world = fakeWorld({ snapshots: { app: three } });
  const model = await atSnapshots(world);
  press(model, 'j', '*');
  await expect.poll(() => notice(model)).toBe('Pinned snapshot 1 of app (snapshot-1 RAW)');
  await expect.poll(() => model.snapshots.getState().targets.app?.rows[1]?.pinned).toBe(true);
  press(model, '#', ...'v2 demo', 'enter');
  await expect.poll(() => notice(model)).toBe('Tags of snapshot 1 of app (snapshot-1 RAW): v2 demo');
  await expect.poll(() => model.snapshots.getState().targets.app?.rows[1]?.tags).toEqual(['v2', 'demo']);
  press(model, '/', ...'demo', 'enter');
  press(model, '#', 'ctrl+u', ...'v2', 'enter');
  await expect.poll(() => world.snapshots.app?.[1]?.tags).toEqual(['v2']);
  await expect.poll(() => model.snapshots.getState().targets.app?.rows[1]?.tags).toEqual(['v2']);
  press(model, 'esc', '/', ...'pinned', 'enter', '*');
  await expect.poll(() => world.snapshots.app?.map(({ pinned }) => pinned)).toEqual([undefined, undefined, undefined]);
});

test('a table of a comparison opens its differences, masked until z reveals them', async () => {
  const model = await atSnapshots(fakeWorld({ snapshots: { app: three } }));
  press(model, 'm', 'j', 'C');
  await expect.poll(() => model.navigation.top()).toMatchObject({ found: { unchanged: 23 } });
  press(model, 'enter');
  const value = () => (model.navigation.top() as { found?: TableDiff | null }).found?.rows?.samples[0]?.values[1];
  await expect.poll(value).toBe('***');
  press(model, 'z');
  await expect.poll(value).toBe('ann@example.com');
});

test('an export goes to the file that is named, from where the program was started', async () => {
  const world = fakeWorld();
  const model = await atSnapshots(world);
  press(model, 'X', 'ctrl+u', ...'shop.zip', 'enter');
  await model.runs.settled();
  expect(world.done).toEqual(['export app /work/shop.zip']);
});

const base = {
  ...{ database: 'app_dev.tool-base', loaded_at: '2026-11-21T04:30:00.000Z', size_bytes: 59_000_000 },
  ...{ partial: false, outdated: null },
};

test('R resets the destination from the targets and the snapshots, after a question', async () => {
  const world = fakeWorld({ base: { ...base, snapshot: 'snapshot-7' } });
  for (const open of [atTargets, atSnapshots]) {
    const model = await open(world);
    press(model, 'R');
    await expect.poll(() => model.navigation.top()).toMatchObject({ plan: { definition: { kind: 'reset' } } });
    answerConfirm(model, 'go');
    await model.runs.settled();
    expect(model.runs.store.getState().runs[0]?.summary).toMatchObject({
      line: expect.stringContaining('Reset postgres://app@localhost:5432/app_dev to its state after the last load'),
      card: { title: 'app_dev reset' },
      undo: { command: 'tool undo app' },
    });
  }
  expect(world.done).toEqual(['reset app', 'reset app']);
  const none = await atTargets(fakeWorld());
  press(none, 'R');
  await expect.poll(() => none.navigation.top()).toMatchObject({ error: { code: 'no_base_copy' } });
});

test('the question of a load offers R where the base copy is of the same snapshot', async () => {
  const world = fakeWorld({ base: { ...base, snapshot: 'snapshot-0' } });
  const model = await atSnapshots(world);
  press(model, 'l');
  await expect
    .poll(() => model.navigation.top())
    .toMatchObject({ plan: { alternatives: { reset: expect.any(Function) } } });
  press(model, 'R');
  await expect.poll(() => model.navigation.top()).toMatchObject({ plan: { definition: { kind: 'reset' } } });
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('snapshots');
  world.base = null;
  press(model, 'l');
  await expect.poll(() => model.navigation.top()).toMatchObject({ plan: { definition: { kind: 'load' } } });
  expect(model.navigation.top()).not.toHaveProperty('plan.alternatives.reset');
  press(model, 'R');
  expect(model.navigation.top()).toMatchObject({ plan: { definition: { kind: 'load' } } });
});

test('F loads all tables where the plan is to load those that differ', async () => {
  const world = fakeWorld({ base: { ...base, snapshot: 'snapshot-7' } });
  const model = await atSnapshots(world);
  const method = () => {
    const route = model.navigation.top();
    return route.screen === 'confirm' && route.plan?.question.facts.find(({ name }) => name === 'Method')?.value;
  };
  press(model, 'l');
  await expect.poll(method).toMatch(/^difference: /);
  press(model, 'F');
  await expect.poll(method).toBe('full load of all tables: --full was given');
  press(model, 'F');
  expect(method()).toBe('full load of all tables: --full was given');
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('snapshots');
});

test('- loads without the steps of after_load where the plan has some', async () => {
  const model = await atSnapshots(fakeWorld({ afterLoad: [{ kind: 'command', run: 'bin/migrate', timeout_s: 900 }] }));
  const planned = () => {
    const route = model.navigation.top();
    const facts = route.screen === 'confirm' ? (route.plan?.question.facts ?? []) : [];
    return {
      facts: facts.map(({ name }) => name),
      alternatives: route.screen === 'confirm' && route.plan?.alternatives,
    };
  };
  press(model, 'l');
  await expect.poll(() => planned().facts).toContain('After load');
  press(model, '-');
  await expect.poll(planned).toMatchObject({ facts: expect.not.arrayContaining(['After load']) });
  await expect.poll(() => planned().facts.length).toBeGreaterThan(0);
  expect(planned().alternatives).not.toHaveProperty('exclude');
});

test('targets are sorted, and the selection stays', async () => {
  const targets = ['b', 'c', 'a'].map((name) => fakeTarget({ name }));
  const model = await atTargets(fakeWorld({ targets }));
  press(model, 'j', 'S', 'k');
  const place = model.navigation.top();
  expect(place.screen === 'targets' && selectedTarget(model, place)?.row.name).toBe('b');
});

test('copy offers the URLs, the name and commands of a target, and the id and commands of a snapshot', async () => {
  const copied: string[] = [];
  const model = await atSnapshots(fakeWorld(), copied);
  press(model, 'y');
  expect(offered(model)).toEqual([
    'snapshot-0',
    'postgres://app@localhost:5432/app_dev',
    'tool load app snapshot-0',
    'tool verify app snapshot-0',
    'tool diff app snapshot-0',
    'tool rm app snapshot-0',
    'postgres://app@localhost:5432/app',
  ]);
  const choice = model.navigation.top();
  if (choice.screen === 'choice') choice.answer('tool load app snapshot-0');
  expect(copied).toEqual(['tool load app snapshot-0']);
  press(model, 'esc', 'esc', 'y');
  expect(offered(model)).toEqual([
    'postgres://app@localhost:5432/app',
    'postgres://app@localhost:5432/app_dev',
    'app',
    'tool build app',
    'tool load app',
    'tool target app',
  ]);
});

function offered(model: Model): string[] {
  const route = model.navigation.top();
  return route.screen === 'choice' ? route.options.map(({ value }) => value) : [];
}

async function atTargets(world: FakeWorld, copied: string[] = []): Promise<Model> {
  const model = createModel({
    operations: fakeOperations(world),
    terminal: fakeTerminal({ copy: (text) => copied.push(text) }),
    clock: () => new Date('2026-11-21T05:00:00Z'),
    cwd: '/work',
  });
  void refreshTargets(model);
  await expect.poll(() => model.targets.getState().phase).toBe('ready');
  return model;
}

async function atSnapshots(world: FakeWorld, copied?: string[]): Promise<Model> {
  const model = await atTargets(world, copied);
  press(model, 'enter');
  await expect.poll(() => model.snapshots.getState().targets.app?.phase).toBe('ready');
  return model;
}

async function atTables(world: FakeWorld): Promise<Model> {
  const model = await atSnapshots(world);
  press(model, 'right');
  await expect.poll(() => tablesShown(model)).toMatchObject([{}, {}, {}]);
  return model;
}

function notice(model: Model): string {
  return model.navigation.store.getState().notice?.text ?? '';
}

const SAFE: Partial<SnapshotRow> = {
  ...{ id: 'snapshot-s', sanitized: true, sanitized_of: 'snapshot-0' },
  coverage: { columns: 28, changed: 28, kept: 0, unchanged: [] },
};

test.each([80, 220])(
  'a sanitized snapshot is below its original, with its coverage as a column: %s columns',
  async (columns) => {
    const partly = { columns: 3, changed: 1, kept: 0, unchanged: ['public.a.b', 'public.a.c'] };
    const rows = [
      fakeSnapshot({ ...SAFE, index: 0 }),
      fakeSnapshot({ index: 0 }),
      fakeSnapshot({ ...SAFE, id: 'snapshot-t', sanitized_of: 'snapshot-1', index: 1, coverage: partly }),
      fakeSnapshot({ index: 1 }),
    ];
    const model = await atSnapshots(fakeWorld({ snapshots: { app: rows } }));
    const lines = (await screenLines(model, { columns, rows: 30 })).filter((line) => /RAW|SAFE|COVERAGE/.test(line));
    expect(lines[0]).toMatch(/ID .*KIND +COVERAGE/);
    expect(lines[1]).toMatch(/ {2}snapshot-0 .*RAW/);
    expect(lines[2]).toMatch(/❯ {3}snapshot-s .*SAFE +28\/28/);
    expect(lines[3]).toMatch(/ {2}snapshot-1 .*RAW/);
    expect(lines[4]).toMatch(/ {4}snapshot-t .*SAFE +1\/3 /);
    expect(lines[1]).not.toContain('/28');
  },
);

test('the coverage has no column where no snapshot is sanitized', async () => {
  const model = await atSnapshots(fakeWorld());
  expect((await screenLines(model, { columns: 120, rows: 30 })).join('\n')).not.toContain('COVERAGE');
});

test('the query of a sanitized snapshot is opened from its row, and its absence explained', async () => {
  const query_file = '/home/ada/.tool/query-texts/0000000a.sql';
  const rows = [
    fakeSnapshot(),
    fakeSnapshot({ ...SAFE, query_file }),
    fakeSnapshot({ ...SAFE, index: 1, id: 'snapshot-far', where: ['remote'] }),
  ];
  const model = await atSnapshots(fakeWorld({ snapshots: { app: rows } }));
  const edited: string[] = [];
  model.terminal.edit = async (file) => void edited.push(file);
  press(model, 'Q');
  expect(notice(model)).toBe('It is not sanitized');
  press(model, 'j', 'Q');
  expect(edited).toEqual([query_file]);
  expect((await screenLines(model, { columns: 120, rows: 40 })).join('\n')).toMatch(/Query +\/home\/ada/);
  press(model, 'j', 'Q');
  expect(notice(model)).toBe('It was sanitized on another machine, which has its query');
  expect(edited).toHaveLength(1);
});
