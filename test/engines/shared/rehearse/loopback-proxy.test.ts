import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { readBytes, relayBetween, startLoopbackProxy } from '../../../../src/engines/shared/rehearse/loopback-proxy.ts';
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

const FLOOD = 1500;
const SCRIPT = `
  const { connect } = require('node:net');
  for (let at = 0; at < ${FLOOD}; at += 1) connect(Number(process.argv[1]), '127.0.0.1').on('error', () => {});`;

/** Counts the open connections to a port. */
function waitingAt(port: number): number {
  const to = ` 0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} 01 `;
  return readFileSync('/proc/net/tcp', 'latin1').split(to).length - 1;
}

it.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
  'another user who opens many connections at once keeps no own client out',
  async () => {
    await using proxied = await behindProxy(Promise.resolve());
    const flood = spawn(process.execPath, ['-e', SCRIPT, `${proxied.port}`], { uid: 65_534, gid: 65_534, cwd: '/' });
    onTestFinished(() => void flood.kill('SIGKILL'));
    const until = Date.now() + 20_000;
    while (waitingAt(proxied.port) < FLOOD) expect(Date.now()).toBeLessThan(until);
    const client = connect(proxied.port, '127.0.0.1');
    client.write('hello');
    expect(`${await Promise.race([once(client, 'data'), once(client, 'close')])}`).toBe('hello');
    client.destroy();
    expect(proxied.sessions.size).toBeLessThanOrEqual(1);
  },
  30_000,
);

it('bytes that come one by one are waited for', async () => {
  const [one, other] = duplexPair();
  const read = readBytes(one, 3);
  for (const byte of 'abc') {
    other.write(byte);
    await nextTurn();
  }
  expect(`${await read}`).toBe('abc');
  other.write('d');
  other.end();
  await expect(readBytes(one, 2)).rejects.toThrow('has left');
});
