import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { isOwnConnection } from '../../../../src/engines/shared/tunnel/own-connection.ts';

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
  return await isOwnConnection(socket);
}

it.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
  'a connection that another user has closed is not one of root',
  async () => {
    expect(await countsWhenClosed(NOBODY)).toBe(false);
  },
);
