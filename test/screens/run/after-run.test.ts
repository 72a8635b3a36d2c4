import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import { keysWhenDone } from '../../../screens/commands/runs/after-run.ts';
import { answerConfirm } from '../../../screens/confirm/answer.ts';
import { fakeBranch } from '../../helpers/fakes/fake-branches.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';
import { fakeTerminal } from '../../helpers/terminal/fake-terminal.ts';

const BASE = {
  ...{ database: 'app_dev.tool-base', snapshot: '3f2a9c01', loaded_at: '2026-11-20T05:00:00.000Z' },
  ...{ partial: false, size_bytes: 60_000_000, outdated: null },
};

const RUNS = [
  { what: 'a new branch', keys: ['B', 'n', 'x', 'enter'], url: 'postgres://app@localhost:5432/app_dev_x' },
  { what: 'a reset branch', keys: ['B', 'R'], url: 'postgres://app@localhost:5432/app_dev_login' },
  { what: 'a subset', keys: ['x', 'enter'], url: 'postgres://app@localhost:5432/app_small' },
  { what: 'a reset', keys: ['R'], url: 'postgres://app@localhost:5432/app_dev' },
  { what: 'an undo', keys: ['u'], url: 'postgres://app@localhost:5432/app_dev' },
];

test.each(RUNS)('$what: ! opens a client on its database, y copies its URL', async ({ keys, url }) => {
  const copied: string[] = [];
  const opened: string[][] = [];
  const run = async ({ args }: { args: string[] }) => {
    opened.push(args);
    return 0;
  };
  const world = fakeWorld({ base: BASE, branches: [fakeBranch('login')] });
  const model = await listed(world, { terminal: fakeTerminal({ copy: (text) => void copied.push(text), run }) });
  for (const key of keys) {
    press(model, key);
    await ready(model);
  }
  await until(() => isAsked(model));
  answerConfirm(model, 'go');
  await model.runs.settled();
  const shown = await screenText(model, { columns: 100, rows: 30 });
  expect(shown).toMatch(/! open client {3}.*y copy URL/);
  press(model, 'y', '!');
  await until(() => opened.length > 0);
  expect([copied, opened]).toEqual([[url], [[url]]]);
});

test('the key bar names what Enter opens in the words of the card', async () => {
  const model = await listed(fakeWorld({ base: BASE, branches: [fakeBranch('login')] }));
  press(model, 'l');
  await until(() => isAsked(model));
  answerConfirm(model, 'go');
  await model.runs.settled();
  const { runs } = model.runs.store.getState();
  expect(runs.flatMap(keysWhenDone)).toContainEqual({ id: null, label: 'tables' });
  const shown = await screenText(model, { columns: 100, rows: 30 });
  expect(shown.split('\n').at(-1)).toContain('Enter tables');
});

/** A list or a plan has been read. */
async function ready(model: Model): Promise<void> {
  await until(() => {
    const route = model.navigation.top();
    return !('found' in route) || route.found !== null || ('error' in route && route.error !== null);
  });
}

function isAsked(model: Model): boolean {
  const route = model.navigation.top();
  return route.screen === 'confirm' && route.plan !== null;
}
