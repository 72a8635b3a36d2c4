import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { failureOf } from '../../../src/engines/mysql/connection/failure.ts';
import { openSession } from '../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';

const PASSWORD = 'Secret-password-1';
/** `CLIENT_SSL` is not among them. */
const CAPABILITIES = 0xdffff7ff;

let server: Server | undefined;

afterEach(() => new Promise<void>((done) => (server ? server.close(() => done()) : done())));

function packet(sequence: number, ...parts: (string | readonly number[] | Buffer)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  );
  const head = Buffer.alloc(4);
  head.writeUIntLE(body.length, 0, 3);
  head[3] = sequence;
  return Buffer.concat([head, body]);
}

const [low, lowest, high, highest] = [
  CAPABILITIES & 255,
  (CAPABILITIES >>> 8) & 255,
  (CAPABILITIES >>> 16) & 255,
  CAPABILITIES >>> 24,
];
const GREETING = packet(
  ...([0, [10], '8.0.36\0', [1, 0, 0, 0], '12345678\0', [low, lowest, 45, 2, 0, high, highest, 21]] as const),
  ...[Buffer.alloc(10), '123456789012\0', 'mysql_native_password\0'],
);
const OK = packet(2, [0, 0, 0, 2, 0, 0, 0]);
const switchTo = (plugin: string): Buffer => packet(2, [0xfe], `${plugin}\0`, '12345678901234567890\0');
const REQUEST_OF_FILE = [[0xfb], '/etc/passwd'] as const;

/** A server that greets, and answers each message of the client with the next of these; what it has got, and the URL. */
async function serverOf(answers: Buffer[], greet = (socket: Socket): void => void socket.write(GREETING)) {
  const got: Buffer[] = [];
  server = createServer((socket) => {
    const waiting = [...answers];
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      got.push(bytes);
      socket.write(waiting.shift() ?? Buffer.alloc(0));
    });
    greet(socket);
  });
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: parseMysqlUrl(`mysql://app:${PASSWORD}@127.0.0.1:${port}/app`),
    sent: () => Buffer.concat(got).toString('latin1'),
  };
}

it.each([
  ['by clear text', [switchTo('mysql_clear_password')], 'by mysql_clear_password, which is not supported'],
  ['by a dialog', [switchTo('dialog')], 'by dialog, which is not supported'],
  ['by the oldest plugin', [packet(2, [0xfe])], 'by an old plugin, which is not supported'],
  ['by the name of a member of objects', [switchTo('constructor')], 'by constructor, which is not supported'],
  ['with a key that is none', [switchTo('caching_sha2_password'), packet(4, [1, 4]), packet(6, [1], 'no key')], ''],
  ['and a file instead', [packet(2, ...REQUEST_OF_FILE)], ''],
  ['and a file for the first statement', [OK, packet(1, ...REQUEST_OF_FILE), packet(3, [0, 0, 0, 2, 0, 0, 0])], ''],
])('a server that requests a password %s gets neither it nor a file', async (_, answers, words) => {
  const { url, sent } = await serverOf(answers);
  const error = await openSession({ url }).catch((thrown) => thrown);
  expect(error).toMatchObject({ name: 'ConnectionLost', message: expect.stringContaining(words) });
  expect(sent()).not.toContain(PASSWORD);
  expect(sent()).not.toContain('root:');
  if (words.includes('clear_password')) expect(failureOf(error)).toBe('denied');
});

it('a greeting without an end is not kept in memory', async () => {
  let written = 0;
  const { url } = await serverOf([], (socket) => {
    const part = Buffer.alloc(0xffffff + 4, 0xff);
    const write = (): void => {
      if (socket.destroyed || written > 4e9) return;
      written += part.length;
      socket.write(part, write);
    };
    write();
  });
  await expect(openSession({ url })).rejects.toMatchObject({ message: expect.stringContaining('no end') });
  expect(written).toBeLessThan(1e9);
});
