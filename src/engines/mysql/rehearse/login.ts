import { once } from 'node:events';
import type { Socket } from 'node:net';
import { userInfo } from 'node:os';
import type { Duplex } from 'node:stream';
import { checkServerIdentity, connect as connectTls } from 'node:tls';
import type { DatabaseUrl } from '../../database-url.ts';
import { readBytes } from '../../shared/rehearse/loopback-proxy.ts';
import { encryptionOf, tlsOptions } from '../connection/open-connection.ts';
import { addressOf } from '../connection/url.ts';
import { HEADER_BYTES, packetOf } from './packets.ts';

/** https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html */
const FLAGS = {
  ...{ withDatabase: 1 << 3, compress: 1 << 5, protocol41: 1 << 9, tls: 1 << 11, shortResponse: 1 << 15 },
  ...{ longResponse: 1 << 21, withoutEndOfColumns: 1 << 24 },
} as const;
/** Would hide statements, or change the shape of their packets: compression, TLS, optional metadata, query attributes. */
const NOT_OFFERED = FLAGS.compress | FLAGS.tls | (1 << 25) | (1 << 26) | (1 << 27);

const HEADS = { ok: 0x00, moreData: 0x01, error: 0xff } as const;
/** The server has the password in its cache, and says OK next. */
const FAST = 0x03;

/** Has the server authenticate the client; `null` for one that it or this refuses. Packets are counted from 0 until then. */
export async function login({ client, server: plain, url }: { client: Duplex; server: Socket; url: DatabaseUrl }) {
  const greeting = await readPacket(plain);
  if (greeting.body[0] === HEADS.error) return end(client, packetOf(greeting.sequence, greeting.body));
  const offer = readGreeting(greeting.body);
  client.write(packetOf(greeting.sequence, offer.body));
  const answer = await readPacket(client);
  if (!isPlanned(readAnswer(answer.body), url)) return end(client, refusal(answer.sequence + 1, url));
  const encryption = encryptionOf(url);
  const encrypts = encryption !== 'none' && offer.hasTls;
  if (encryption === 'required' && !encrypts) throw new Error('the server has no TLS');
  // Some clients claim what was not offered, and leave it.
  const flags = answer.body.readUInt32LE(0) & ~NOT_OFFERED;
  // The request for TLS is a packet more.
  const shift = encrypts ? 1 : 0;
  answer.body.writeUInt32LE((encrypts ? flags | FLAGS.tls : flags) >>> 0, 0);
  if (encrypts) plain.write(packetOf(answer.sequence, answer.body.subarray(0, REQUEST_BYTES)));
  const server = encrypts ? await encrypted(plain, url) : plain;
  server.write(packetOf(answer.sequence + shift, answer.body));
  while (true) {
    const { sequence, body } = await readPacket(server);
    const packet = packetOf(sequence - shift, body);
    if (body[0] === HEADS.error) return end(client, packet);
    client.write(packet);
    if (body[0] === HEADS.ok) break;
    if (body.length === 2 && body[0] === HEADS.moreData && body[1] === FAST) continue;
    const next = await readPacket(client);
    server.write(packetOf(next.sequence + shift, next.body));
  }
  return { server, pid: offer.pid, withoutEndOfColumns: (flags & offer.flags & FLAGS.withoutEndOfColumns) !== 0 };
}

function end(client: Duplex, packet: Buffer): null {
  client.end(packet);
  return null;
}

const LONGEST_PACKET = 64 * 1024;

async function readPacket(stream: Duplex): Promise<{ sequence: number; body: Buffer }> {
  const header = await readBytes(stream, HEADER_BYTES);
  const length = header.readUIntLE(0, 3);
  if (length === 0 || length > LONGEST_PACKET) throw new Error('no packet of a login');
  return { sequence: header.readUInt8(3), body: await readBytes(stream, length) };
}

const PROTOCOL = 10;

/** The greeting without what is not offered. Behind the version: number of the connection, 8 bytes of the challenge, a zero. */
function readGreeting(body: Buffer) {
  const version = body.indexOf(0, 1);
  if (body[0] !== PROTOCOL || version === -1 || body.length < version + 21) throw new Error('no greeting of a server');
  const [low, high] = [version + 14, version + 19];
  const flags = body.readUInt16LE(low) | (body.readUInt16LE(high) << 16);
  const offered = flags & ~NOT_OFFERED;
  body.writeUInt16LE(offered & 0xffff, low);
  body.writeUInt16LE(offered >>> 16, high);
  return { body, flags: offered, hasTls: (flags & FLAGS.tls) !== 0, pid: body.readUInt32LE(version + 1) };
}

/** Flags, the longest packet, the character set, and 23 bytes. */
const REQUEST_BYTES = 32;

interface LoginAnswer {
  flags: number;
  user: string;
  database: string | null;
}

function readAnswer(body: Buffer): LoginAnswer {
  if (body.length < REQUEST_BYTES + 2) throw new Error('no answer of a client');
  const flags = body.readUInt32LE(0);
  const user = textAt(body, REQUEST_BYTES);
  const size = body[user.end] ?? 0;
  if (size >= 0xfb) throw new Error('a challenge is answered with more than 250 bytes');
  const hasSize = (flags & (FLAGS.longResponse | FLAGS.shortResponse)) !== 0;
  const response = hasSize ? user.end + 1 + size : textAt(body, user.end).end;
  const database = (flags & FLAGS.withDatabase) === 0 ? null : textAt(body, response).text;
  return { flags, user: user.text, database };
}

/** Up to a zero, or the end. */
function textAt(body: Buffer, at: number): { text: string; end: number } {
  const zero = body.indexOf(0, at);
  const until = zero === -1 ? body.length : zero;
  return { text: body.toString('utf8', at, until), end: until + 1 };
}

function isPlanned({ flags, user, database }: LoginAnswer, url: DatabaseUrl): boolean {
  return (flags & FLAGS.protocol41) !== 0 && user === userOf(url) && database === url.database;
}

function userOf({ user }: DatabaseUrl): string {
  return user ?? userInfo().username;
}

const DENIED = 1044;

export function refusal(sequence: number, url: DatabaseUrl): Buffer {
  return packetOf(sequence, errorBody(`this address leads to database "${url.database}" as "${userOf(url)}" only`));
}

export function errorBody(message: string): Buffer {
  const head = Buffer.alloc(3);
  head.writeUInt8(HEADS.error, 0);
  head.writeUInt16LE(DENIED, 1);
  return Buffer.concat([head, Buffer.from(`#42000${message}`)]);
}

async function encrypted(socket: Socket, url: DatabaseUrl): Promise<Duplex> {
  const { verifyIdentity, ...options } = await tlsOptions(url);
  const address = addressOf(url);
  const tls = connectTls({
    ...{ ...options, socket, checkServerIdentity: verifyIdentity ? checkServerIdentity : () => undefined },
    ...('host' in address && !/^[\d.]+$|:/.test(address.host) && { servername: address.host }),
  });
  await once(tls, 'secureConnect');
  return tls;
}
