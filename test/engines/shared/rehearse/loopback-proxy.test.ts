import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { relayBetween, startLoopbackProxy } from '../../../../src/engines/shared/rehearse/loopback-proxy.ts';
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
    const same = (chunk: Buffer): Buffer => chunk;
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
