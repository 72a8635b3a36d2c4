import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { createOwnConnectionCheck, MOST_UNKNOWN } from '../connection/own-connection.ts';

export interface LoopbackProxy extends AsyncDisposable {
  port: number;
  /** A connection of this program, without the two system calls of a socket for each statement. */
  connect: () => Duplex;
}

/** Serves one client; what it opens ends with the proxy when it is kept. Its failure ends the connection. */
type Serve = (client: Duplex, keep: (stream: Duplex) => void) => Promise<void>;

export const LOOPBACK = '127.0.0.1';
const MOST_SESSIONS = 500;

/**
 * Listens on a port of this machine for this user. Other users of the machine are refused: the server may know this
 * program by its user or its certificate, and ask them for no password.
 */
export async function startLoopbackProxy(serve: Serve): Promise<LoopbackProxy> {
  const open = new Set<Duplex>();
  // Another user may open any number: they take no place of a session.
  const unknown = new Set<Socket>();
  const isOwnConnection = createOwnConnectionCheck();
  const keep = (stream: Duplex): void => {
    open.add(stream);
    stream.on('error', () => {}).once('close', () => open.delete(stream));
  };
  const serveOwn = async (client: Socket): Promise<void> => {
    const isOwn = await isOwnConnection(client);
    unknown.delete(client);
    if (!isOwn || client.destroyed || open.size > 2 * MOST_SESSIONS) return void client.destroy();
    keep(client);
    await serve(client, keep);
  };
  const proxy = createServer({ noDelay: true }, (client) => {
    client.on('error', () => {});
    if (unknown.size >= MOST_UNKNOWN) return void client.destroy();
    unknown.add(client);
    serveOwn(client).catch(() => client.destroy());
  });
  proxy.listen({ port: 0, host: LOOPBACK, backlog: MOST_UNKNOWN });
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    connect() {
      const [own, client] = duplexPair();
      keep(client);
      own.once('close', () => client.destroy());
      client.once('close', () => own.destroy());
      serve(client, keep).catch(() => client.destroy());
      return own;
    },
    async [Symbol.asyncDispose]() {
      const { promise, resolve } = Promise.withResolvers<void>();
      proxy.close(() => resolve());
      for (const stream of [...unknown, ...open]) stream.destroy();
      await promise;
    },
  };
}

export async function readBytes(stream: Duplex, count: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let left = count; left > 0; ) {
    // Takes what is there: a stream that keeps some bytes is readable again at once, and nothing else would ever run.
    const bytes: Buffer | null = stream.read(Math.min(left, Math.max(1, stream.readableLength)));
    if (bytes) {
      parts.push(bytes);
      left -= bytes.length;
      continue;
    }
    if (stream.readableEnded || stream.destroyed) throw new Error('the other side has left');
    const waited = new AbortController();
    const { signal } = waited;
    await Promise.race(['readable', 'end', 'close'].map((event) => once(stream, event, { signal })));
    waited.abort();
  }
  return Buffer.concat(parts);
}

interface Relay {
  client: Duplex;
  server: Duplex;
  /** Are told the bytes before they are passed on, and return those that are: at once, where nothing is waited for. */
  toServer: (chunk: Buffer) => Buffer | Promise<Buffer>;
  toClient: (chunk: Buffer) => Buffer | Promise<Buffer>;
}

/** Passes bytes on both ways until one side ends, no faster than they are taken. */
export async function relayBetween({ client, server, toServer, toClient }: Relay): Promise<void> {
  if (client.destroyed) server.destroy();
  await Promise.all([passOn(client, server, toServer), passOn(server, client, toClient)]);
}

/** Listens for chunks: a statement of less than a millisecond notices each turn of promises. */
function passOn(from: Duplex, to: Duplex, take: Relay['toServer']): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const write = (bytes: Buffer): void => {
    if (to.write(bytes)) return;
    from.pause();
    to.once('drain', () => from.resume());
  };
  // Nothing behind a refusal is passed on, which is written to the client.
  const fail = (error: unknown): void => {
    from.off('data', pass).pause();
    reject(error);
  };
  const pass = (chunk: Buffer): void => {
    try {
      const taken = take(chunk);
      if (Buffer.isBuffer(taken)) write(taken);
      else {
        from.pause();
        taken.then((bytes) => {
          from.resume();
          write(bytes);
        }, fail);
      }
    } catch (error) {
      fail(error);
    }
  };
  from.on('data', pass);
  from.once('end', () => to.end());
  from.once('close', resolve);
  // It has left while the other side was opened.
  if (from.closed) resolve();
  return promise;
}
