import type { Duplex } from 'node:stream';
import { releaseChunk } from '../../../repository/objects/release.ts';
import { ConnectionLost, SqlError } from './session-errors.ts';
import { logIn, type WireAddress, type WireOptions } from './wire-login.ts';
import { errorFields, int32, messageOf, readMessages, type Take, TYPE } from './wire-messages.ts';

/**
 * A connection of our own: psql takes 20 ms to start, copies each row once more, and hands it over in pieces of 4 kB.
 * `pg` logs in; then the messages are read here, since `pg` has an object and an event for each row.
 * https://www.postgresql.org/docs/current/protocol.html
 */
export interface Wire {
  /** Resolves with the first value of each row; statements are sent at once as by `execute`. */
  query(statement: string): Promise<string[]>;
  /** Statements are sent at once, also while the server still answers others: a round trip costs nothing then. */
  execute(statement: string): Promise<void>;
  /** Passes on the rows of `COPY … TO STDOUT`, in pieces whose memory is released afterwards; resolves with their number. */
  copyOut(statement: string, take: Take): Promise<number>;
  /** Begins `COPY … FROM STDIN`. */
  copyIn(statement: string): CopyIn;
  /** Ends the session when its statements have ended. */
  end(): Promise<void>;
  /** Ends it at once. */
  close(reason?: Error): void;
}

export interface CopyIn {
  /** Resolves when the system has taken the rows, which have whole lines only in all. */
  write(rows: Uint8Array): Promise<void>;
  /** Resolves with the number of rows that the server has loaded. */
  end(): Promise<number>;
}

interface Exchange extends PromiseWithResolvers<number> {
  take: Take | null;
  /** First values of the rows of a query. */
  values: string[] | null;
  takesRows: boolean;
  rows: number;
  tag: string;
  error: Error | null;
}

/** Copies begin and end; status of a parameter, notice, description of a result, notification. */
const IGNORED = new Set([...'HcSNTAI'].map((letter) => letter.charCodeAt(0)));

export async function openWire(address: WireAddress, options: WireOptions = {}): Promise<Wire> {
  const socket = await logIn(address, options);
  const { current, handle, fail, send, settled } = converseOver(socket);
  const read = readMessages({
    rows: (buffer, from, to) => current().take?.(buffer, from, to),
    row: () => {
      current().rows += 1;
    },
    handle,
  });
  socket.on('error', (error) => fail(new ConnectionLost(error.message)));
  // A connection that is ended by the server gets an error, and no `ready`.
  socket.on('close', () => fail(new ConnectionLost(current().error?.message ?? 'the connection was closed')));
  socket.on('data', (chunk: Buffer<ArrayBuffer>) => {
    try {
      read(chunk);
    } catch (error) {
      fail(error as Error);
    }
    releaseChunk(chunk);
  });
  return {
    async query(statement) {
      const values: string[] = [];
      await send(statement, { values });
      return values;
    },
    async execute(statement) {
      await send(statement, {});
    },
    copyOut: (statement, take) => send(statement, { take }),
    copyIn: (statement) => copyInto(socket, send(statement, { takesRows: true })),
    async end() {
      await settled();
      if (socket.destroyed) return;
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      socket.once('close', resolve);
      socket.end(messageOf(TYPE.terminate, Buffer.alloc(0)), () => socket.destroy());
      await closed;
    },
    close: (reason = new ConnectionLost('the connection was closed')) => fail(reason),
  };
}

/** Sends statements, and gives each the answers of the server, which come in the order of the statements. */
function converseOver(socket: Duplex) {
  const exchanges: Exchange[] = [];
  const idle = newExchange();
  const current = (): Exchange => exchanges[0] ?? idle;
  let failure: Error | null = null;
  return {
    current,
    fail(error: Error): void {
      failure ??= error;
      socket.destroy();
      for (const { reject } of exchanges.splice(0)) reject(failure);
    },
    send(statement: string, how: Partial<Exchange>): Promise<number> {
      if (failure) return Promise.reject(failure);
      const exchange = { ...newExchange(), ...how };
      socket.write(messageOf(TYPE.query, cString(statement)));
      exchanges.push(exchange);
      return exchange.promise;
    },
    settled: () => Promise.allSettled(exchanges.map(({ promise }) => promise)),
    handle(type: number, body: Buffer): void {
      switch (type) {
        case TYPE.error:
          current().error = errorOf(body, { withDetails: current().values === null });
          return;
        case TYPE.row:
          current().values?.push(firstValue(body));
          return;
        case TYPE.copyIn:
          if (!current().takesRows) socket.write(messageOf(TYPE.copyFail, cString('no rows follow')));
          return;
        case TYPE.ended:
          current().tag = body.toString('latin1', 0, body.length - 1);
          return;
        case TYPE.ready:
          settle(exchanges.shift() ?? idle);
          return;
        default:
          if (!IGNORED.has(type)) throw new ConnectionLost(`unexpected message ${type}`);
      }
    },
  };
}

/** Writes rows of a copy that the server answers by `ended`. */
function copyInto(socket: Duplex, ended: Promise<number>): CopyIn {
  let refused: Error | null = null;
  ended.catch((error) => {
    refused = error;
  });
  return {
    // Rows that are under way when the server refuses one are ignored by it.
    async write(rows) {
      if (refused) throw refused;
      await writeRows(socket, rows).catch(() => ended);
    },
    end() {
      if (!refused) socket.write(messageOf(TYPE.copyDone, Buffer.alloc(0)));
      return ended;
    },
  };
}

function newExchange(): Exchange {
  const state = { take: null, values: null, takesRows: false, rows: 0, tag: '', error: null };
  const exchange = { ...Promise.withResolvers<number>(), ...state };
  exchange.promise.catch(() => {});
  return exchange;
}

/** A number of values, then the length and bytes of each; a length of -1 for NULL. */
function firstValue(body: Buffer): string {
  const length = body.length < 6 || body.readInt16BE(0) < 1 ? 0 : body.readInt32BE(2);
  return body.toString('utf8', 6, 6 + Math.max(0, length));
}

function settle({ resolve, reject, take, rows, tag, error }: Exchange): void {
  const told = /^COPY (\d+)$/.exec(tag)?.[1];
  if (error) reject(error);
  else if (take && told !== String(rows)) reject(new ConnectionLost(`${rows} rows came, and the server says ${tag}`));
  else resolve(Number(told ?? 0));
}

/** The server copies a message before it reads the rows: larger ones leave the caches of the processor. */
const SENT_BYTES = 64 * 1024;

function writeRows(socket: Duplex, rows: Uint8Array): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.cork();
  for (let at = 0; at < rows.length; at += SENT_BYTES) {
    const piece = rows.subarray(at, at + SENT_BYTES);
    socket.write(Buffer.concat([Buffer.of(TYPE.copyData), int32(piece.length + 4)]));
    socket.write(piece);
  }
  socket.write(Buffer.alloc(0), (error) => (error ? reject(error) : resolve()));
  socket.uncork();
  return promise;
}

function cString(text: string): Buffer {
  if (text.includes('\0')) throw new ConnectionLost('a NUL character cannot be sent');
  return Buffer.from(`${text}\0`);
}

function errorOf(body: Buffer, { withDetails }: { withDetails: boolean }): SqlError {
  const fields = errorFields(body);
  const lines = ['M', ...(withDetails ? ['D', 'H', 'W'] : [])].map((letter) => fields.get(letter));
  return new SqlError(lines.filter(Boolean).join('\n'), fields.get('C') ?? '');
}
