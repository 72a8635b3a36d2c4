import { afterEach, expect, test } from 'vitest';
import { createStore } from 'zustand/vanilla';
import { createTheme } from '../../../../components/theme.ts';
import { App } from '../../../../screens/app/app.tsx';
import { dispatchMouse } from '../../../../screens/app/dispatch.ts';
import type { Model } from '../../../../screens/app/model.ts';
import type { Operations } from '../../../../screens/app/operations.ts';
import { cellWidth } from '../../../../src/text/text-width.ts';
import { fakeOperations } from '../../../helpers/fakes/fake-operations.ts';
import { fakeSnapshot, fakeTarget, fakeWorld } from '../../../helpers/fakes/fake-world.ts';
import { listed, press, until } from '../../../helpers/terminal/driven-model.ts';
import { renderAt } from '../../../helpers/terminal/render.tsx';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const names = Array.from({ length: 12 }, (_, index) => `shop-${String(index).padStart(2, '0')}`);

interface Shown {
  model: Model;
  text: () => Promise<string>;
  /** Targets whose snapshots were listed. */
  asked: string[];
}

async function shown(size = { columns: 160, rows: 50 }): Promise<Shown> {
  const snapshots = [
    fakeSnapshot({ index: 0, id: '00aa00bb' }),
    fakeSnapshot({
      ...{ index: 1, id: '11aa11bb', sanitized: true },
      coverage: { columns: 28, changed: 28, kept: 0, unchanged: [] },
    }),
  ];
  const contents = { snapshot: '11aa11bb', sanitized: true, since: '2026-11-21T04:30:00.000Z', unchanged: true };
  const world = fakeWorld({
    targets: names.map((name) => fakeTarget({ name, snapshots: 2, contents })),
    checks: Object.fromEntries(names.map((name) => [name, { status: 'ok' as const }])),
    snapshots: Object.fromEntries(names.map((name) => [name, snapshots])),
  });
  const asked: string[] = [];
  const operations: Operations = fakeOperations(world);
  const { listSnapshots } = operations;
  operations.listSnapshots = (session, target) => {
    asked.push(target);
    return listSnapshots(session, target);
  };
  const model = await listed(world, { operations });
  const theme = createStore(() => createTheme({ unicode: true }));
  const rendered = renderAt(size, <App model={model} theme={theme} suspend={async () => {}} bindHandOver={() => {}} />);
  ends.push(rendered.unmount);
  return { model, asked, text: async () => (await rendered.screen()).join('\n') };
}

test('targets, snapshots and tables stand side by side, above the facts of the selected rows', async () => {
  const { text } = await shown();
  await expect.poll(text, { timeout: 20_000 }).toMatch(/public\.orders +120,000/);
  const lines = (await text()).split('\n');
  expect(lines[0]).toMatch(/^╭─ ❯ targets ─+ 12 ─┬─ snapshots of shop-00 ─+ 2.*─┬─ tables of 00aa00bb ─+ 25 ─╮$/);
  expect(lines.find((line) => line.includes('─ shop-00 ─'))).toMatch(/^├─ shop-00 ─+┼─ Snapshot 00aa00bb RAW ─+┤ .*│$/);
  expect(lines.find((line) => line.includes('❯ shop-00'))).toMatch(/│› *00aa00bb +0.*│› +public\.orders/);
  expect(lines.filter((line) => /^[╭│├╰]/.test(line)).every((line) => cellWidth(line) === 160)).toBe(true);
});

test('at 120 columns the snapshots have all columns that matter, above their tables', async () => {
  const { text } = await shown({ columns: 120, rows: 40 });
  await expect.poll(text, { timeout: 20_000 }).toMatch(/public\.orders +120,000/);
  const lines = (await text()).split('\n');
  expect(lines.find((line) => line.includes('COVERAGE'))).toMatch(/│ {2}ID +# +AGE +KIND +LOADED +COVERAGE +SIZE /);
  expect(lines.find((line) => line.includes('11aa11bb '))).toMatch(/ SAFE +unchanged +28\/28 +48\.3 MB /);
  expect(await text()).toMatch(/├─ Snapshot 00aa00bb RAW ─+┤[\s\S]*├─ tables of 00aa00bb ─+ 25 ─┤/);
  expect(lines.filter((line) => /^[╭│├╰]/.test(line)).every((line) => cellWidth(line) === 120)).toBe(true);
});

test('a cursor that moves on asks no server; where it stays, once', async () => {
  const { model, asked, text } = await shown();
  press(model, ...Array(9).fill('j'));
  await until(() => asked.length > 0);
  await expect.poll(text).toMatch(/❯ shop-09[\s\S]*00aa00bb/);
  expect(asked).toEqual(['shop-09']);
  press(model, 'k');
  await until(() => asked.length > 1);
  press(model, 'j');
  await expect.poll(text).toContain('snapshots of shop-09');
  expect(asked).toEqual(['shop-09', 'shop-08']);
});

test('Tab moves the focus, each pane has its own keys, and what was left is as it was', async () => {
  const { model, text } = await shown();
  await expect.poll(text).toContain('11aa11bb');
  press(model, 'j', 'tab');
  await until(() => model.snapshots.getState().targets['shop-01']?.phase === 'ready');
  press(model, 'j', 'm');
  await expect.poll(text).toMatch(/─ ❯ snapshots of shop-01 ─+ 1 marked/);
  expect(await text()).toMatch(/› shop-01[\s\S]*❯ 11aa11bb +● 1/);
  expect((await text()).split('\n').at(-1)).toMatch(/l load +Enter tables +Tab next pane +s sanitize/);
  press(model, 'tab');
  await expect.poll(text).toMatch(/❯ tables of 11aa11bb/);
  press(model, 'tab');
  await expect.poll(text).toMatch(/─ ❯ targets/);
  expect(await text()).toMatch(/❯ shop-01[\s\S]*› 11aa11bb +● 1/);
  press(model, 'shift+tab', 'shift+tab');
  await expect.poll(text).toMatch(/❯ snapshots of shop-01/);
  expect(model.navigation.top()).toMatchObject({ screen: 'snapshots', marked: ['11aa11bb'] });
});

test('a click selects in the pane that has the keys only', async () => {
  const { model, text } = await shown();
  await expect.poll(text).toContain('11aa11bb');
  dispatchMouse(model, { kind: 'click', row: 4, column: 60 });
  expect(model.navigation.top()).toMatchObject({ screen: 'targets', list: { selected: null } });
  dispatchMouse(model, { kind: 'click', row: 4, column: 5 });
  expect(model.navigation.top()).toMatchObject({ list: { selected: 'shop-02' } });
});

test('in a narrower window the list that has the keys stands alone, with its selection', async () => {
  const { model, text } = await shown({ columns: 119, rows: 40 });
  press(model, 'j', 'enter');
  await expect.poll(text).toContain('11aa11bb');
  press(model, 'j');
  await expect.poll(text).toMatch(/tool ❯ shop-01 ─[\s\S]*❯ 11aa11bb +1/);
  expect(await text()).not.toContain('┬');
  press(model, 'esc');
  await expect.poll(text).toMatch(/tool ❯ targets ─[\s\S]*❯ shop-01/);
});
