import type { Duplex } from 'node:stream';
import { releaseChunk } from '../../../repository/objects/release.ts';
import { ConnectionLost, SqlError } from './session-errors.ts';
import { logIn, type WireAddress, type WireOptions } from './wire-login.ts';
import { errorFields, int32, messageOf, readMessages, type Take, TYPE } from './wire-messages.ts';

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
  return new SocketWire(await logIn(address, options));
}

/**
 * A connection of our own: psql takes 20 ms to start, copies each row once more, and hands it over in pieces of 4 kB.
 * `pg` logs in; then the messages are read here, since `pg` has an object and an event for each row.
 * https://www.postgresql.org/docs/current/protocol.html
 */
export type Wire = Pick<SocketWire, keyof SocketWire>;

class SocketWire {
  readonly #socket: Duplex;
  /** In the order of their statements, which the server answers one after the other. */
  readonly #exchanges: Exchange[] = [];
  readonly #idle = newExchange();
  #failure: Error | null = null;

  constructor(socket: Duplex) {
    this.#socket = socket;
    const read = readMessages({
      rows: (buffer, from, to) => this.#current.take?.(buffer, from, to),
      row: () => {
        this.#current.rows += 1;
      },
      handle: (type, body) => this.#handle(type, body),
    });
    socket.on('error', (error) => this.close(new ConnectionLost(error.message)));
    // A connection that is ended by the server gets an error, and no `ready`.
    socket.on('close', () => this.close(new ConnectionLost(this.#current.error?.message ?? CLOSED)));
    socket.on('data', (chunk: Buffer<ArrayBuffer>) => {
      try {
        read(chunk);
      } catch (error) {
        this.close(error as Error);
      }
      releaseChunk(chunk);
    });
  }

  /** Resolves with the first value of each row; statements are sent at once as by `execute`. */
  async query(statement: string): Promise<string[]> {
    const values: string[] = [];
    await this.#send(statement, { values });
    return values;
  }

  /** Statements are sent at once, also while the server still answers others: a round trip costs nothing then. */
  async execute(statement: string): Promise<void> {
    await this.#send(statement);
  }

  /** Passes on the rows of `COPY … TO STDOUT`, in pieces whose memory is released afterwards; resolves with their number. */
  copyOut(statement: string, take: Take): Promise<number> {
    return this.#send(statement, { take });
  }

  /** Begins `COPY … FROM STDIN`. */
  copyIn(statement: string): CopyIn {
    const socket = this.#socket;
    let refused: Error | null = null;
    const ended = this.#send(statement, { takesRows: true });
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

  /** Ends the session when its statements have ended. */
  async end(): Promise<void> {
    await Promise.allSettled(this.#exchanges.map(({ promise }) => promise));
    const socket = this.#socket;
    if (socket.destroyed) return;
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    socket.once('close', resolve);
    socket.end(messageOf(TYPE.terminate, Buffer.alloc(0)), () => socket.destroy());
    await closed;
  }

  /** Ends it at once. */
  close(reason: Error = new ConnectionLost(CLOSED)): void {
    this.#failure ??= reason;
    this.#socket.destroy();
    for (const { reject } of this.#exchanges.splice(0)) reject(this.#failure);
  }

  get #current(): Exchange {
    return this.#exchanges[0] ?? this.#idle;
  }

  #send(statement: string, how: Partial<Exchange> = {}): Promise<number> {
    if (this.#failure) return Promise.reject(this.#failure);
    const exchange = { ...newExchange(), ...how };
    this.#socket.write(messageOf(TYPE.query, cString(statement)));
    this.#exchanges.push(exchange);
    return exchange.promise;
  }

  #handle(type: number, body: Buffer): void {
    const current = this.#current;
    if (type === TYPE.error) current.error = errorOf(body, { withDetails: current.values === null });
    else if (type === TYPE.row) current.values?.push(firstValue(body));
    else if (type === TYPE.copyIn) {
      if (!current.takesRows) this.#socket.write(messageOf(TYPE.copyFail, cString('no rows follow')));
    } else if (type === TYPE.ended) current.tag = body.toString('latin1', 0, body.length - 1);
    else if (type === TYPE.ready) settle(this.#exchanges.shift() ?? this.#idle);
    else if (!IGNORED.has(type)) throw new ConnectionLost(`unexpected message ${type}`);
  }
}

const CLOSED = 'the connection was closed';

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
