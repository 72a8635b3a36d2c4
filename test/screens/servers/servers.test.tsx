import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import { answerConfirm } from '../../../screens/confirm/answer.ts';
import { fakeServer } from '../../helpers/fakes/fake-servers.ts';
import { fakeSnapshot, fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';

function worldOf() {
  const servers = [fakeServer(40_123), fakeServer(40_124, { detached: true }), fakeServer(40_125, { target: 'other' })];
  // A target needs no destination.
  const target = fakeTarget({ name: 'app', dst_url: null, snapshots: 1, servers: servers.slice(0, 2) });
  return fakeWorld({ targets: [target], servers, snapshots: { app: [fakeSnapshot({ image: true })] } });
}

async function opened(world = worldOf()): Promise<Model> {
  const model = await listed(world);
  press(model, '&');
  await until(() => foundIn(model) !== null);
  return model;
}

const foundIn = (model: Model) => {
  const route = model.navigation.store.getState().stack.find(({ screen }) => screen === 'servers');
  return route?.screen === 'servers' ? route.found : null;
};

const noticeOf = (model: Model) => model.navigation.store.getState().notice?.text;

async function planned(model: Model): Promise<void> {
  await until(() => {
    const route = model.navigation.top();
    return route.screen === 'confirm' && route.plan !== null;
  });
}

async function confirmed(model: Model): Promise<void> {
  await planned(model);
  answerConfirm(model, 'go');
  await model.runs.settled();
}

test('the targets show running servers with port, age and memory; & lists those of the target', async () => {
  const model = await listed(worldOf());
  expect(await screenText(model)).toMatch(/Servers +port 40123, .* ago, 45.2 MB; port 40124/);
  press(model, '&');
  await until(() => foundIn(model) !== null);
  const shown = await screenText(model);
  expect(shown).toMatch(/app ❯ servers ─+ 2 servers/);
  expect(shown).toMatch(/PORT +SNAPSHOT +AGE +MEMORY/);
  expect(shown).toMatch(/40123 +snapshot-0 .*45.2 MB/);
  expect(shown).toContain('postgres://tool_owner@127.0.0.1:40123/app');
});

test('V on the servers rehearses a migration on a server of its own, without a destination', async () => {
  const world = worldOf();
  const model = await opened(world);
  press(model, 'V', ...'add.sql', 'enter');
  await until(() => model.navigation.top().screen === 'rehearsal');
  expect(world.done).toEqual(['rehearse /add.sql --server']);
});

test('n on a snapshot starts a server that ends with the screens; & leaves it running', async () => {
  const world = worldOf();
  const model = await listed(world);
  press(model, 'enter');
  await until(() => model.navigation.top().screen === 'snapshots');
  expect(await screenText(model)).toMatch(/IMAGE/);
  press(model, 'n');
  await planned(model);
  expect(await screenText(model)).toContain('with this program, or tool down');
  await confirmed(model);
  press(model, 'esc', 'n');
  await planned(model);
  press(model, '&');
  await planned(model);
  expect(await screenText(model)).toContain('with tool down app');
  await confirmed(model);
  expect(world.done).toEqual(['up app snapshot-0', 'up app snapshot-0 --detach']);
  press(model, 'enter');
  await until(() => foundIn(model)?.length === 4);
});

test('d stops the selected server after a question, and the list is read again', async () => {
  const world = worldOf();
  const model = await opened(world);
  press(model, 'd');
  expect(world.done).toEqual([]);
  await confirmed(model);
  expect(world.done).toEqual(['down 40123']);
  await until(() => foundIn(model)?.length === 1);
});

test('y copies the URL with its password, which is not shown, and ! opens a client: of servers of this session', async () => {
  const world = worldOf();
  const model = await opened(world);
  press(model, '!');
  expect(noticeOf(model)).toContain('another session started it');
  press(model, 'n');
  await confirmed(model);
  press(model, 'enter');
  await until(() => foundIn(model)?.length === 3);
  const copied: string[] = [];
  const ran: string[] = [];
  model.terminal.copy = (text) => void copied.push(text);
  model.terminal.run = async ({ args }) => {
    ran.push(...args);
    return 0;
  };
  press(model, 'end', 'y');
  expect(noticeOf(model)).toBe('Copied postgres://tool_owner@127.0.0.1:40003/app');
  expect(copied).toEqual(['postgres://tool_owner:secret@127.0.0.1:40003/app']);
  press(model, '!');
  await until(() => ran.length > 0);
  expect(ran).toEqual(['postgres://tool_owner@127.0.0.1:40003/app']);
});
