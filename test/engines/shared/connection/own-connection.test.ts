import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { createOwnConnectionCheck } from '../../../../src/engines/shared/connection/own-connection.ts';

const NOBODY = 65_534;

/** Whether a connection counts that such a user has made, which has sent bytes, and is closed already. */
async function countsWhenClosed(uid: number): Promise<boolean> {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  await promisify(execFile)('bash', ['-c', `exec 3<>/dev/tcp/127.0.0.1/${port}; printf x >&3`], { uid, gid: uid });
  const [socket] = await accepted;
  onTestFinished(() => void socket.destroy());
  // The kernel shows it as a connection of root once it waits for our end.
  const ended = ` 0100007F:${socket.remotePort?.toString(16).toUpperCase().padStart(4, '0')} 0100007F:`;
  const line = async () => (await readFile('/proc/net/tcp', 'latin1')).split('\n').find((each) => each.includes(ended));
  await expect.poll(line).toMatch(/^ *\d+: \S+ \S+ 05 /);
  return await createOwnConnectionCheck()(socket);
}

it.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
  'a connection that another user has closed is not one of root',
  async () => {
    expect(await countsWhenClosed(NOBODY)).toBe(false);
  },
);

it.each(['127.0.0.1', '::ffff:127.0.0.1'])('a connection of this user to %s is its own', async (host) => {
  // Programs in Java connect to the second.
  if (host.includes(':') && !existsSync('/proc/net/tcp6')) return;
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect({ host, port: (server.address() as AddressInfo).port });
  const [socket] = await accepted;
  expect(await createOwnConnectionCheck()(socket)).toBe(true);
  client.destroy();
  socket.destroy();
});
