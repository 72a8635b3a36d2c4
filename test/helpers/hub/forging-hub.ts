import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Stands between a client and a real hub, and changes its answers as the test says. */
export interface ForgingHub {
  /** In place of the hub's. */
  url: string;
  /** Changes the body of a successful answer, or returns it; `path` is below `/api/v3`. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test forges, whatever the route.
  forge: (request: { method: string; path: string }, body: any) => unknown;
  /** Reports whether a request is answered with 503 before it reaches the hub. */
  isAway: (request: { method: string; path: string }) => boolean;
  /** Reports whether the hub is of an earlier version, which lacks the route. */
  isUnknown: (request: { method: string; path: string }) => boolean;
  requests: { method: string; path: string; token: string | undefined }[];
  stop(): Promise<void>;
}

export async function startForgingHub(hub: string, port = 0): Promise<ForgingHub> {
  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const path = url.replace('/api/v3', '');
    forging.requests.push({ method, path, token: headers.authorization });
    const sent = await buffer(incoming);
    if (forging.isAway({ method, path })) {
      outgoing.writeHead(503, { 'retry-after': '0' }).end();
      return;
    }
    const kept = ['authorization', 'content-type', 'if-match', 'if-none-match', 'user-agent'];
    const answer = await fetch(new URL(forging.isUnknown({ method, path }) ? '/api/v3/unknown' : url, hub), {
      method,
      headers: Object.fromEntries(kept.flatMap((name) => (headers[name] ? [[name, String(headers[name])]] : []))),
      ...(sent.length > 0 && { body: new Uint8Array(sent) }),
    });
    const text = await answer.text();
    const isJson = answer.ok && answer.headers.get('content-type')?.includes('json');
    const body = isJson ? JSON.stringify(await forging.forge({ method, path }, JSON.parse(text))) : text;
    outgoing.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const forging: ForgingHub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forge: (_request, body) => body,
    isAway: () => false,
    isUnknown: () => false,
    requests: [],
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return forging;
}
