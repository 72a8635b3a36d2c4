import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, ListenOptions, Socket } from 'node:net';
import { createOwnConnectionCheck, MOST_UNKNOWN } from '../../../engines/shared/connection/own-connection.ts';
import type { Context } from '../../../runtime/context.ts';
import { toUserError, UserError } from '../../../runtime/errors.ts';

export interface ServedReset {
  branch: string;
  way: 'in_place' | 'copy';
  /** Why it was by a copy. */
  way_reason: string | null;
}

interface ResetPaths {
  /** By path. */
  resets: Map<string, { branch: string; reset: () => Promise<ServedReset> }>;
  /** In a folder that only this user can open; `null` for a free port of the loopback interface. */
  socket: string | null;
}

export interface ResetServer extends AsyncDisposable {
  address: { socket: string | null; url: string | null; token: string | null };
  /** Resolves when the signal has ended it. */
  ended: Promise<void>;
}

/** In ms; a slower request is closed. */
const REQUEST_TIME = 5000;
const MOST_HEADER_BYTES = 8 * 1024;
const MOST_BODY_BYTES = 1024;
/** Connections of this user. */
const MOST_CONNECTIONS = 64;
/** Bytes of a socket's path, which the operating system limits. */
const MOST_PATH_BYTES = 103;

/** Answers `POST /reset/N` on a socket of this user, or on a loopback port to whoever has the token. */
export async function listenForResets(context: Context, given: ResetPaths): Promise<ResetServer> {
  const { resets, socket } = given;
  const token = socket !== null ? null : randomBytes(32).toString('base64url');
  const server = createServer({
    maxHeaderSize: MOST_HEADER_BYTES,
    headersTimeout: REQUEST_TIME,
    requestTimeout: REQUEST_TIME,
    keepAliveTimeout: REQUEST_TIME,
    connectionsCheckingInterval: 500,
  });
  server.maxConnections = MOST_CONNECTIONS + MOST_UNKNOWN;
  if (socket === null) closeForeign(server);
  const running = new Map<string, Promise<void>>();
  let host: string | null = null;
  const take: RequestListener = (request, response) => {
    const { url: path = '' } = request;
    const refusal = refusalOf(request, { host, token }) ?? (resets.has(path) ? null : NOT_FOUND);
    if (refusal) return answer(request, response, { ...refusal, closes: true });
    if (running.has(path)) return answer(request, response, BUSY);
    const reset = resets.get(path)?.reset ?? (() => Promise.reject(new Error('there is no such branch')));
    const work = perform(context, reset).then((done) => answer(request, response, done));
    running.set(
      path,
      work.finally(() => running.delete(path)),
    );
  };
  server.on('request', take).on('checkExpectation', take);
  await listen(
    server,
    socket === null ? { host: '127.0.0.1', port: 0, backlog: MOST_UNKNOWN } : { path: pathWithin(socket) },
  );
  if (socket !== null) await chmod(socket, 0o600);
  else host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = context;
  const ended = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  return {
    address: { socket, url: host && `http://${host}`, token },
    ended,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((done) => server.close(done));
      await Promise.allSettled(running.values());
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Closes connections of other users of the machine, so that they take no place. */
function closeForeign(server: Server): void {
  const own = new Set<Socket>();
  const isOwnConnection = createOwnConnectionCheck();
  const admit = async (client: Socket): Promise<void> => {
    const isOwn = await isOwnConnection(client);
    if (!isOwn || client.destroyed || own.size >= MOST_CONNECTIONS) return void client.destroy();
    own.add(client);
    client.once('close', () => own.delete(client));
  };
  server.on('connection', (client) => void admit(client).catch(() => client.destroy()));
}

function pathWithin(socket: string): string {
  if (Buffer.byteLength(socket) <= MOST_PATH_BYTES) return socket;
  throw new UserError('invalid_value', `The path of the socket is too long: ${socket}`, {
    hint: 'Use a port of this machine instead: --tcp. Or set a shorter working_directory.',
  });
}

async function listen(server: Server, where: ListenOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('listening', resolve).once('error', reject);
  server.listen(where);
  await promise;
}

interface Answer {
  status: number;
  body: object;
  /** So that a client without the token keeps none of the few connections, and what is not read of a request is not waited for. */
  closes?: boolean;
}

function refused(status: number, code: string, message: string): Answer {
  return { status, body: { error: { code, message } } };
}

const NOT_FOUND = refused(404, 'not_found', 'Only POST /reset and POST /reset/N of a branch are answered');
const BUSY = refused(409, 'reset_running', 'A reset of this branch is running');

/** Pages of a browser send an Origin, and another name in Host indicates DNS rebinding. */
function refusalOf(
  { method, headers }: IncomingMessage,
  { host, token }: { host: string | null; token: string | null },
): Answer | null {
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) {
    return refused(403, 'browser_refused', 'Requests of browsers are refused');
  }
  if (host !== null && headers.host !== host) return refused(421, 'wrong_host', `The host is ${host}`);
  if (token !== null && !isEqual(headers.authorization ?? '', `Bearer ${token}`)) {
    return refused(401, 'wrong_token', 'The token is missing or wrong');
  }
  if (method !== 'POST') return refused(405, 'wrong_method', 'Use POST');
  const length = Number(headers['content-length'] ?? 0);
  if (headers['transfer-encoding'] !== undefined || !(length <= MOST_BODY_BYTES)) {
    return refused(413, 'body_too_large', 'A request needs no body');
  }
  return null;
}

/** In the same time whatever differs. */
function isEqual(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

async function perform(context: Context, reset: () => Promise<ServedReset>): Promise<Answer> {
  const started = performance.now();
  try {
    const done = await reset();
    return { status: 200, body: { ...done, duration_ms: Math.round(performance.now() - started) } };
  } catch (thrown) {
    const { code, message, hint } = toUserError(thrown);
    const hide = context.hide ?? ((text: string) => text);
    context.report({ event: 'warning', code, message });
    return { status: 500, body: { error: { code, message: hide(message), hint: hint && hide(hint) } } };
  }
}

function answer(request: IncomingMessage, response: ServerResponse, { status, body, closes }: Answer): void {
  const text = `${JSON.stringify(body)}\n`;
  request.resume();
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...(closes && { connection: 'close' }),
  });
  response.end(text);
}
