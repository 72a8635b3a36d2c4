import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, expect, it } from 'vitest';
import { createHttpReader, type SignedRequest } from '../../../src/repository/s3/http-reader.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';

const reader = createHttpReader({ connectionTimeout: 5000, idleTimeout: 5000 });
const signal = new AbortController().signal;
const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Serves, and counts connections. */
async function serve(answer: RequestListener): Promise<{ request: SignedRequest; connections: () => number }> {
  let connections = 0;
  const server = createServer(answer).on('connection', () => {
    connections += 1;
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const headers = { host: `127.0.0.1:${port}`, range: 'bytes=0-9' };
  const request = { protocol: 'http:', hostname: '127.0.0.1', port, path: '/bucket/a%20b', query: {}, headers };
  return { request, connections: () => connections };
}

it('sends the signed request, and reads head and body', async () => {
  const seen: unknown[] = [];
  const { request } = await serve(({ url, headers }, response) => {
    seen.push([url, headers.host, headers.range]);
    response.writeHead(206, { 'Content-Range': 'bytes 0-9/20', 'content-length': 10 }).end('0123456789');
  });
  const pieces: string[] = [];
  const query = { 'x-id': 'GetObject', versions: ['a/b', "it's"], empty: null };
  const head = await reader.get({ ...request, query }, { signal, take: (piece) => void pieces.push(piece.toString()) });
  expect(head).toMatchObject({ statusCode: 206, headers: { 'content-range': 'bytes 0-9/20' } });
  expect(pieces.join('')).toBe('0123456789');
  const path = '/bucket/a%20b?x-id=GetObject&versions=a%2Fb&versions=it%27s&empty=';
  expect(seen).toEqual([[path, request.headers.host, 'bytes=0-9']]);
});

it('keeps its connections; one that the service has closed is replaced', async () => {
  const { request, connections } = await serve(({ url }, response) => {
    if (url === '/last') response.setHeader('connection', 'close');
    response.setHeader('content-length', 2).end('ok');
  });
  const get = (path: string) => reader.get({ ...request, path }, { signal, take: () => undefined });
  await get('/one');
  await get('/two');
  expect(connections()).toBe(1);
  await get('/last');
  await get('/three');
  expect(connections()).toBe(2);
  await Promise.all([get('/four'), get('/five'), get('/six')]);
  expect(connections()).toBe(4);
});

it('waits for the consumer of the body, and delivers it in order', async () => {
  const content = randomBytes(20_000_000);
  const { request } = await serve((_, response) => response.setHeader('content-length', content.length).end(content));
  const taken: Buffer[] = [];
  let busy = false;
  await reader.get(request, {
    signal,
    async take(piece) {
      expect(busy).toBe(false);
      busy = true;
      await new Promise((resolve) => setImmediate(resolve));
      taken.push(Buffer.from(piece));
      busy = false;
    },
  });
  expect(Buffer.concat(taken).equals(content)).toBe(true);
});

it('a truncated answer is an error after its received bytes', async () => {
  const { request } = await serve(({ socket }, response) => {
    response.setHeader('content-length', 10).write('01234', () => socket.end());
  });
  let taken = 0;
  const reading = reader.get(request, {
    signal,
    async take(piece) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      taken += piece.length;
    },
  });
  await expect(reading).rejects.toThrow('ended before the answer did');
  expect(taken).toBe(5);
});

it('an error of the consumer is thrown', async () => {
  const { request } = await serve((_, response) => response.setHeader('content-length', 2).end('ok'));
  const full = (): never => {
    throw new Error('the disk is full');
  };
  await expect(reader.get(request, { signal, take: full })).rejects.toThrow('the disk is full');
  await expect(reader.get(request, { signal, take: async () => full() })).rejects.toThrow('the disk is full');
});

it('an answer without a length is left to the client', async () => {
  const { request } = await serve((_, response) => response.end('in chunks'));
  expect(await reader.get(request, { signal, take: () => undefined })).not.toBeNull();
  const chunked = await serve((_, response) => {
    response.write('in ');
    response.end('chunks');
  });
  expect(await reader.get(chunked.request, { signal, take: () => undefined })).toBeNull();
});

it('ends when it is interrupted, or when nothing comes', async () => {
  const { request } = await serve(() => {});
  const stopped = new AbortController();
  const reading = reader.get(request, { signal: stopped.signal, take: () => undefined });
  stopped.abort(new Error('stopped'));
  await expect(reading).rejects.toThrow('stopped');
  const impatient = createHttpReader({ connectionTimeout: 5000, idleTimeout: 100 });
  await expect(impatient.get(request, { signal, take: () => undefined })).rejects.toMatchObject({
    name: 'TimeoutError',
  });
});

it('a closed port has its error code', async () => {
  const { request } = await serve(() => {});
  const nowhere = { ...request, port: 1 };
  await expect(reader.get(nowhere, { signal, take: () => undefined })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('over TLS it reads only from servers with a trusted certificate', async () => {
  await using folder = await temporaryFolder();
  const [key, cert] = [join(folder.path, 'key'), join(folder.path, 'cert')];
  const words = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', ...words, '-addext', 'subjectAltName=DNS:localhost'], { stdio: 'ignore' });
  const content = randomBytes(3_000_000);
  const pair = { key: readFileSync(key), cert: readFileSync(cert) };
  const server = createSecureServer(pair, (_, response) => {
    response.setHeader('content-length', content.length).end(content);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const { port } = server.address() as AddressInfo;
  const request = {
    protocol: 'https:',
    hostname: 'localhost',
    port,
    path: '/',
    query: {},
    headers: { host: 'localhost' },
  };
  const pieces: Buffer[] = [];
  const get = () => reader.get(request, { signal, take: (piece) => void pieces.push(Buffer.from(piece)) });
  await expect(get()).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });

  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, pair.cert.toString()]);
  try {
    expect(await get()).toMatchObject({ statusCode: 200 });
    await get();
  } finally {
    setDefaultCACertificates(trusted);
  }
  expect(Buffer.concat(pieces).equals(Buffer.concat([content, content]))).toBe(true);
});
