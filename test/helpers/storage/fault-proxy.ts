import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What the proxy does to a request instead of passing it on whole. */
export type Fault =
  /** The connection ends: before the service sees the request, half through its body, or half through the answer. */
  | { kind: 'cut'; where: 'before' | 'request' | 'answer' }
  /** The service has done what was asked, and nobody hears of it. */
  | { kind: 'lost-answer' }
  | { kind: 'status'; status: number; code: string }
  | { kind: 'corrupt'; where: 'request' | 'answer' }
  /** Half of the answer, whose header says that it is all; or a header that promises more than comes. */
  | { kind: 'false-length'; says: 'less' | 'more' }
  /** The entries of a list come in another order. */
  | { kind: 'reorder' }
  | { kind: 'delay'; milliseconds: number };

export interface ProxiedRequest {
  method: string;
  /** The path after the bucket: `objects/aa/…`, empty for a request about the bucket. */
  key: string;
  query: string;
  /** Bytes of its body that came in. */
  bytes: number;
  /** What the service answered, if it was asked. */
  status: number | null;
  /** Whether the client was given that answer whole. */
  told: boolean;
}

export interface FaultProxy {
  endpoint: string;
  /** Chooses what happens to each request; nothing by default. */
  fault: (request: ProxiedRequest) => Fault | null;
  /** Bytes of bodies that came in. */
  sent: number;
  requests: ProxiedRequest[];
  stop(): Promise<void>;
}

/** Stands between the tool and an S3 service, and misbehaves as it is told. */
export async function startFaultProxy(endpoint: string): Promise<FaultProxy> {
  const service = new URL(endpoint);
  const server = createServer((incoming, outgoing) => {
    incoming.on('error', () => {});
    outgoing.on('error', () => {});
    const { pathname, search } = new URL(incoming.url ?? '/', endpoint);
    const key = decodeURIComponent(pathname.split('/').slice(2).join('/'));
    const proxied = { method: incoming.method ?? '', key, query: search, bytes: 0, status: null, told: false };
    proxy.requests.push(proxied);
    handle({ incoming, outgoing, proxied, fault: proxy.fault(proxied) }).catch(() => incoming.socket.destroy());
  });

  async function handle({ incoming, outgoing, proxied, fault }: Handling): Promise<void> {
    if (fault?.kind === 'cut' && fault.where === 'before') {
      incoming.socket.destroy();
      return;
    }
    const whole = Number(incoming.headers['content-length'] ?? 0);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      proxied.bytes += chunk.length;
      proxy.sent += chunk.length;
      chunks.push(chunk);
      if (fault?.kind === 'cut' && fault.where === 'request' && proxied.bytes >= whole / 2) {
        incoming.socket.destroy();
        return;
      }
    }
    if (fault?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.milliseconds));
    if (fault?.kind === 'status') {
      const body = `<?xml version="1.0"?><Error><Code>${fault.code}</Code><Message>by the proxy</Message></Error>`;
      outgoing
        .writeHead(fault.status, { 'content-type': 'application/xml' })
        .end(incoming.method === 'HEAD' ? '' : body);
      return;
    }
    const body = Buffer.concat(chunks);
    if (fault?.kind === 'corrupt' && fault.where === 'request') flip(body);
    await forward({ incoming, outgoing, proxied, fault }, body);
  }

  function forward({ incoming, outgoing, proxied, fault }: Handling, body: Buffer): Promise<void> {
    const { hostname, port } = service;
    const { method, url: path, headers } = incoming;
    return new Promise((resolve, reject) => {
      const onward = request({ hostname, port, method, path, headers }, async (answer) => {
        proxied.status = answer.statusCode ?? null;
        if (fault?.kind === 'lost-answer') {
          answer.resume();
          incoming.socket.destroy();
          return resolve();
        }
        let content: Buffer = await buffer(answer);
        if (fault?.kind === 'corrupt' && fault.where === 'answer') flip(content);
        if (fault?.kind === 'reorder') content = reordered(content);
        if (fault?.kind === 'false-length' && method !== 'HEAD' && content.length > 0) {
          const [half, less] = [content.subarray(0, content.length / 2), fault.says === 'less'];
          const length = String(less ? half.length : content.length + 7);
          const { 'transfer-encoding': _, ...rest } = answer.headers;
          outgoing.writeHead(answer.statusCode ?? 502, { ...rest, 'content-length': length });
          if (less) outgoing.end(half);
          else outgoing.write(content, () => incoming.socket.destroy());
          return resolve();
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        if (fault?.kind === 'cut') {
          outgoing.write(content.subarray(0, content.length / 2), () => incoming.socket.destroy());
          return resolve();
        }
        outgoing.end(content);
        proxied.told = true;
        return resolve();
      });
      onward.on('error', reject);
      onward.end(body);
    });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const proxy: FaultProxy = {
    endpoint: `http://127.0.0.1:${port}`,
    fault: () => null,
    sent: 0,
    requests: [],
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}

interface Handling {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  proxied: ProxiedRequest;
  fault: Fault | null;
}

/** The entries of a list of objects, the other way round. */
function reordered(content: Buffer): Buffer {
  const text = content.toString('latin1');
  const entries = text.match(/<Contents>.*?<\/Contents>/gs) ?? [];
  const turned = [...entries].reverse();
  return Buffer.from(
    text.replaceAll(/<Contents>.*?<\/Contents>/gs, () => turned.shift() ?? ''),
    'latin1',
  );
}

function flip(content: Buffer): void {
  const middle = Math.floor(content.length / 2);
  if (content.length > 0) content[middle] = (content[middle] ?? 0) ^ 0x55;
}
