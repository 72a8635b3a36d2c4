import { randomBytes, timingSafeEqual } from 'node:crypto';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { hmac, scramKeys } from './scram.ts';
import { SqlError } from './session.ts';

/** Address of an unencrypted connection. */
export interface WireAddress {
  /** A name, an address, or the folder of a unix socket. */
  host: string;
  port: number;
  user: string;
  password: string | null;
  database: string;
}

/**
 * A connection of our own, for rows: a libpq program copies each row once more, and hands it over in pieces of 4 kB. It
 * knows as much of the protocol as COPY needs, and only SCRAM and `trust`: whoever opens one falls back to psql.
 * https://www.postgresql.org/docs/current/protocol.html
 */
export interface Wire {
  execute(statement: string): Promise<void>;
  /** Passes on the rows of `COPY … TO STDOUT`, in pieces of a buffer that is reused; resolves with their number. */
  copyOut(statement: string, take: Take): Promise<number>;
  close(): void;
}

type Take = (buffer: Buffer, from: number, to: number) => void;

/** It was lost, refused, or the other side does not speak the protocol. */
class WireFailed extends Error {
  override readonly name = 'WireFailed';
}

interface Exchange extends PromiseWithResolvers<number> {
  take: Take | null;
  rows: number;
  tag: string;
  error: Error | null;
}

const TYPE = {
  authentication: 0x52,
  copyData: 0x64,
  error: 0x45,
  ended: 0x43,
  ready: 0x5a,
  password: 0x70,
  query: 0x51,
};
/** Copy begins and ends; status of a parameter, notice, key of the backend, description and row of a result, notification. */
const IGNORED = new Set([...'HcSNKTDAI'].map((letter) => letter.charCodeAt(0)));
const HEADER_BYTES = 5;
const RECEIVED_BYTES = 256 * 1024;
const VERSION = 196608;
/** Most bytes of a message that is not a row: a row has at most 1 GB. */
const MOST_BYTES = 16 * 1024 * 1024;

export async function openWire(address: WireAddress): Promise<Wire> {
  const { host, port, user, database } = address;
  const place = host.startsWith('/') ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port };
  // One buffer for all that comes: an allocation for each read costs more than the read.
  const onread = { buffer: Buffer.allocUnsafeSlow(RECEIVED_BYTES), callback: receive };
  const socket = connectSocket({ ...place, onread });
  socket.setNoDelay(true).setKeepAlive(true);
  const authenticate = authentication(address, (body) => socket.write(messageOf(TYPE.password, body)));
  let current: Exchange = newExchange(null);
  const first = current;
  let failure: Error | null = null;

  const fail = (error: Error): void => {
    failure ??= error;
    socket.destroy();
    current.reject(failure);
  };
  const handle = (type: number, body: Buffer): void => {
    switch (type) {
      case TYPE.authentication:
        authenticate(body);
        return;
      case TYPE.error:
        current.error = errorOf(body);
        return;
      case TYPE.ended:
        current.tag = body.toString('latin1', 0, body.length - 1);
        return;
      case TYPE.ready:
        settle(current);
        return;
      default:
        if (!IGNORED.has(type)) throw new WireFailed(`unexpected message ${type}`);
    }
  };
  const read = messages({
    rows: (buffer, from, to) => current.take?.(buffer, from, to),
    row: () => countRow(current),
    handle,
  });
  socket.on('error', (error) => fail(new WireFailed(error.message)));
  // A connection that is refused or ended by the server gets an error, and no `ready`.
  socket.on('close', () => fail(new WireFailed(current.error?.message ?? 'the connection was closed')));
  socket.on('connect', () => socket.write(startMessage({ user, database })));
  await first.promise;

  function receive(bytes: number, buffer: Uint8Array): boolean {
    try {
      read(Buffer.from(buffer.buffer, buffer.byteOffset, bytes));
    } catch (error) {
      fail(error as Error);
    }
    return true;
  }

  const send = (statement: string, take: Take | null): Promise<number> => {
    if (failure) return Promise.reject(failure);
    current = newExchange(take);
    socket.write(messageOf(TYPE.query, cString(statement)));
    return current.promise;
  };
  return {
    async execute(statement) {
      await send(statement, null);
    },
    copyOut: send,
    close: () => socket.destroy(),
  };
}

function newExchange(take: Take | null): Exchange {
  const exchange = { ...Promise.withResolvers<number>(), take, rows: 0, tag: '', error: null };
  exchange.promise.catch(() => {});
  return exchange;
}

function countRow(exchange: Exchange): void {
  exchange.rows += 1;
}

function settle({ resolve, reject, take, rows, tag, error }: Exchange): void {
  if (error) reject(error);
  else if (take && /^COPY (\d+)$/.exec(tag)?.[1] !== String(rows))
    reject(new WireFailed(`${rows} rows came, and the server says ${tag}`));
  else resolve(rows);
}

interface Messages {
  rows: Take;
  row: () => void;
  handle: (type: number, body: Buffer) => void;
}

/** Takes the bytes of a connection, in chunks that end anywhere. */
function messages({ rows, row, handle }: Messages): (chunk: Buffer) => void {
  const header = Buffer.alloc(HEADER_BYTES);
  let headed = 0;
  let type = 0;
  /** Bytes that the message still has; -1 between two. */
  let left = -1;
  let body: Buffer[] = [];
  return (chunk) => {
    let at = 0;
    while (at < chunk.length || left === 0) {
      if (left === -1) {
        if (headed === 0 && chunk.length - at >= HEADER_BYTES) {
          type = chunk.readUInt8(at);
          left = chunk.readInt32BE(at + 1) - 4;
          at += HEADER_BYTES;
        } else {
          const more = chunk.copy(header, headed, at, Math.min(chunk.length, at + HEADER_BYTES - headed));
          headed += more;
          at += more;
          if (headed < HEADER_BYTES) return;
          headed = 0;
          type = header.readUInt8(0);
          left = header.readInt32BE(1) - 4;
        }
        if (left < 0 || (type !== TYPE.copyData && left > MOST_BYTES))
          throw new WireFailed('a message has no valid length');
      }
      const end = Math.min(chunk.length, at + left);
      if (type === TYPE.copyData) rows(chunk, at, end);
      else if (end > at) body.push(Buffer.from(chunk.subarray(at, end)));
      left -= end - at;
      at = end;
      if (left > 0) return;
      left = -1;
      if (type === TYPE.copyData) {
        row();
        continue;
      }
      const whole = Buffer.concat(body);
      body = [];
      handle(type, whole);
    }
  };
}

function startMessage(parameters: Record<string, string>): Buffer {
  const pairs = Object.entries({ ...parameters, client_encoding: 'UTF8' }).flatMap(([name, value]) => [
    cString(name),
    cString(value),
  ]);
  const body = Buffer.concat([int32(VERSION), ...pairs, Buffer.alloc(1)]);
  return Buffer.concat([int32(body.length + 4), body]);
}

function messageOf(type: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.of(type), int32(body.length + 4), body]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function cString(text: string): Buffer {
  if (text.includes('\0')) throw new WireFailed('a NUL character cannot be sent');
  return Buffer.from(`${text}\0`);
}

/** Fields: a letter each, then text up to a NUL. */
function errorOf(body: Buffer): SqlError {
  const fields = new Map(
    body
      .toString('utf8')
      .split('\0')
      .map((field) => [field[0], field.slice(1)]),
  );
  const lines = [fields.get('M'), ...['D', 'H', 'W'].map((letter) => fields.get(letter))];
  return new SqlError(lines.filter(Boolean).join('\n'), fields.get('C') ?? '');
}

const SCRAM = 'SCRAM-SHA-256';
const MOST_ITERATIONS = 1_000_000;

/** Answers what the server asks for. https://www.rfc-editor.org/rfc/rfc5802, without channel binding. */
function authentication({ password }: WireAddress, answer: (body: Buffer) => void): (body: Buffer) => void {
  const nonce = randomBytes(18).toString('base64');
  const first = `n=,r=${nonce}`;
  let expected: Buffer | null = null;
  let proven: boolean | null = null;
  return (body) => {
    const code = body.readInt32BE(0);
    const text = body.toString('utf8', 4);
    if (code === 0 && proven !== false) return;
    if (code === 10 && password !== null && PLAIN.test(password) && text.split('\0').includes(SCRAM)) {
      proven = false;
      const initial = Buffer.from(`n,,${first}`);
      answer(Buffer.concat([cString(SCRAM), int32(initial.length), initial]));
      return;
    }
    if (code === 11 && password !== null && proven === false) {
      const { r, s, i } = attributesOf(text);
      const iterations = Number(i);
      if (
        !r?.startsWith(nonce) ||
        r === nonce ||
        s === undefined ||
        !(iterations >= 1 && iterations <= MOST_ITERATIONS)
      )
        throw new WireFailed('the server asks for the password in a wrong way');
      const { client, stored, server } = scramKeys(password, { salt: Buffer.from(s, 'base64'), iterations });
      const last = `c=biws,r=${r}`;
      const signed = `${first},${text},${last}`;
      const signature = hmac(stored, signed);
      const proof = client.map((byte, at) => byte ^ (signature[at] ?? 0));
      expected = hmac(server, signed);
      answer(Buffer.from(`${last},p=${Buffer.from(proof).toString('base64')}`));
      return;
    }
    const given = Buffer.from(attributesOf(text).v ?? '', 'base64');
    if (code === 12 && expected?.length === given.length && timingSafeEqual(expected, given)) {
      proven = true;
      return;
    }
    throw new WireFailed('the server asks for another authentication, or does not prove that it knows the password');
  };
}

/** Characters that SASLprep does not change. */
const PLAIN = /^[\x20-\x7e]*$/;

function attributesOf(text: string): Record<string, string | undefined> {
  return Object.fromEntries(text.split(',').map((part) => [part[0] ?? '', part.slice(2)]));
}
