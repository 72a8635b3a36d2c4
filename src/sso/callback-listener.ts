import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UserError } from '../runtime/errors.ts';
import { isLoopback } from '../text/loopback.ts';

export const DEFAULT_REDIRECT_URL = 'http://127.0.0.1:0/callback';

/** In ms; a slower request is closed. */
const REQUEST_TIME = 5000;
const MOST_HEADER_BYTES = 16 * 1024;

export interface CallbackListener extends AsyncDisposable {
  redirectUrl: string;
  callback: Promise<Callback>;
}

export interface Callback {
  url: URL;
  answer(failure?: string): Promise<void>;
}

/**
 * Serves the redirect_url on its own host, port and path. Other requests are refused and do not end the sign-in: any
 * page or program of this machine can send one, for example with another state.
 */
export async function listenForCallback(
  redirectUrl: string,
  { state, signal }: { state: string; signal: AbortSignal },
): Promise<CallbackListener> {
  const wanted = localUrl(redirectUrl);
  const { promise, resolve, reject } = Promise.withResolvers<Callback>();
  promise.catch(() => {});
  let taken = false;
  const server = createServer({
    maxHeaderSize: MOST_HEADER_BYTES,
    headersTimeout: REQUEST_TIME,
    requestTimeout: REQUEST_TIME,
    connectionsCheckingInterval: 500,
  });
  server.on('request', (request, response) => {
    const refusal = taken ? 409 : refusalOf(request, { wanted, state });
    if (refusal !== null) return refuse(request, { response, status: refusal });
    taken = true;
    resolve({ url: new URL(request.url ?? '', wanted), answer: (failure) => answer(response, failure) });
  });
  await listen(server, wanted);
  wanted.port = String((server.address() as AddressInfo).port);
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    redirectUrl: wanted.href,
    callback: promise,
    async [Symbol.asyncDispose]() {
      signal.removeEventListener('abort', onAbort);
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Only a loopback address, and http: there are no certificates for it. */
function localUrl(text: string): URL {
  const url = new URL(text);
  if (url.protocol === 'http:' && isLoopback(url) && url.search === '' && url.hash === '') return url;
  throw new UserError(
    'redirect_url_not_local',
    `The redirect_url ${url.origin}${url.pathname} is not on this machine`,
    { hint: 'Register one with the provider such as http://127.0.0.1:8765/callback, or use: tool auth login --device' },
  );
}

async function listen(server: Server, wanted: URL): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('listening', resolve).once('error', reject);
  const { hostname } = wanted;
  const port = Number(wanted.port || 80);
  server.listen({ host: hostname.replaceAll(/[[\]]/g, ''), port });
  try {
    await promise;
  } catch (error) {
    throw portRefused({ hostname, port }, (error as NodeJS.ErrnoException).code);
  }
}

function portRefused({ hostname, port }: { hostname: string; port: number }, code = 'refused'): UserError {
  const isBusy = code === 'EADDRINUSE';
  const end = isBusy ? 'End the other program, which may be another tool auth login, or change' : 'Change';
  const find = isBusy ? ` Find the program on the port: lsof -i :${port}` : '';
  return new UserError(
    'redirect_port_busy',
    `Cannot listen on ${hostname}:${port} for the sign-in: ${isBusy ? 'in use' : code}`,
    { hint: `${end} the host or the port of redirect_url here and at the provider.${find}` },
  );
}

/** Another name in Host indicates DNS rebinding. */
function refusalOf(
  { method, url = '', headers }: IncomingMessage,
  { wanted, state }: { wanted: URL; state: string },
): number | null {
  if (headers.host !== wanted.host) return 421;
  if (!url.startsWith('/') || new URL(url, wanted).pathname !== wanted.pathname) return 404;
  if (method !== 'GET') return 405;
  const states = new URL(url, wanted).searchParams.getAll('state');
  return states.length === 1 && states[0] === state ? null : 400;
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
};

function refuse(request: IncomingMessage, { response, status }: { response: ServerResponse; status: number }): void {
  response.writeHead(status, HEADERS).end();
  request.socket.destroySoon();
}

async function answer(response: ServerResponse, failure?: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('close', resolve);
  response.writeHead(failure === undefined ? 200 : 400, HEADERS).end(callbackPage(failure));
  if (!response.closed) await promise;
}

function callbackPage(failure?: string): string {
  const title = failure === undefined ? 'You are signed in' : 'You are not signed in';
  const text = failure === undefined ? 'Go back to the terminal. This page can be closed.' : escapeHtml(failure);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${title}</title>
<style>body { font: 1.1rem system-ui, sans-serif; max-width: 32rem; margin: 20vh auto; padding: 0 1rem }</style>
<h1>${title}</h1>
<p>${text}</p>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
