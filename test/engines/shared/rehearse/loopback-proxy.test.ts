import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { relayBetween, startLoopbackProxy, type Take } from '../../../../src/engines/shared/rehearse/loopback-proxy.ts';
import { eventually } from '../../../helpers/postgres/postgres-server.ts';

const MANY = 200;

/** A server that repeats what it gets, behind a proxy that waits for `opened` before it connects. */
async function behindProxy(opened: Promise<unknown>) {
  const sessions = new Set<Socket>();
  const server = createServer((session) => {
    sessions.add(session);
    session.on('error', () => {}).once('close', () => sessions.delete(session));
    session.pipe(session);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let ended = 0;
  const proxy = await startLoopbackProxy(async (client, keep) => {
    await opened;
    const session = connect(port, '127.0.0.1');
    keep(session);
    client.once('close', () => session.destroy());
    session.once('close', () => client.destroy());
    const same: Take = (chunk, pass) => pass(chunk);
    await relayBetween({ client, server: session, toServer: same, toClient: same });
    ended += 1;
  });
  return {
    ...{ port: proxy.port, own: proxy.connect, sessions, ended: () => ended },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

it('many connections at once are served in both directions, and one of this program', async () => {
  await using proxied = await behindProxy(Promise.resolve());
  const clients = Array.from({ length: MANY }, () => connect(proxied.port, '127.0.0.1'));
  const answers = [...clients, proxied.own()].map(async (client, at) => {
    client.write(`hello ${at}`);
    const [answer] = (await once(client, 'data')) as [Buffer];
    client.destroy();
    return `${answer}`;
  });
  expect(await Promise.all(answers)).toEqual(answers.map((_, at) => `hello ${at}`));
  await eventually(async () => proxied.sessions.size === 0);
});

it('clients that leave while the server is opened leave no session', async () => {
  const opened = Promise.withResolvers<void>();
  await using proxied = await behindProxy(opened.promise);
  const clients = Array.from({ length: 20 }, () => connect(proxied.port, '127.0.0.1'));
  await Promise.all(clients.map((client) => once(client, 'connect')));
  const left = clients.map((client) => once(client, 'close'));
  for (const client of clients) client.resetAndDestroy();
  await Promise.all(left);
  opened.resolve();
  await eventually(async () => proxied.ended() === clients.length || proxied.sessions.size === 0);
  expect(proxied.sessions.size).toBe(0);
});

/** Opens connections as fast as it can, and holds so many. */
const FLOOD = `
  const { connect } = require('node:net');
  let held = 0;
  const open = () => {
    for (let more = 0; more < 50 && held < 3000; more += 1) {
      held += 1;
      connect(Number(process.argv[1]), '127.0.0.1').on('error', () => {}).once('close', () => { held -= 1; });
    }
    setImmediate(open);
  };
  open();
  process.stdout.write('begun');`;

it.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
  'another user who opens connections without end keeps no own client out',
  async () => {
    await using proxied = await behindProxy(Promise.resolve());
    const flood = spawn(process.execPath, ['-e', FLOOD, `${proxied.port}`], { uid: 65_534, gid: 65_534, cwd: '/' });
    onTestFinished(() => void flood.kill('SIGKILL'));
    await once(flood.stdout, 'data');
    for (let round = 0; round < 20; round += 1) {
      const client = connect(proxied.port, '127.0.0.1');
      client.write(`hello ${round}`);
      const [answer] = (await once(client, 'data')) as [Buffer];
      expect(`${answer}`).toBe(`hello ${round}`);
      client.destroy();
    }
    expect(flood.exitCode).toBeNull();
  },
  60_000,
);
