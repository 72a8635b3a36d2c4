import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCloudClient, pagesOf } from '../../src/cloud/client.ts';

let server: Server;
let requests = 0;

beforeEach(async () => {
  server = createServer((_request, response) => {
    requests += 1;
    response.setHeader('content-type', 'application/json').end('{"items": [], "next_cursor": "again"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => server.close());

test('a list that never ends is refused', async () => {
  const { port } = server.address() as AddressInfo;
  const { signal } = new AbortController();
  const client = createCloudClient({ endpoint: `http://127.0.0.1:${port}`, token: 't', version: '1.0.0', signal });
  const pages = pagesOf(client, async (query) => {
    const { body } = await client.call('listTargets', { query });
    if (!body) throw new Error('no body');
    return body;
  });
  await expect(pages).rejects.toMatchObject({ code: 'cloud_answer_invalid', exit: 4 });
  expect(requests).toBe(1001);
});

interface Given {
  status: number;
  retryAfter?: string;
}

/** Answers one after the other, the last one from then on; when each request came. */
async function answering(given: Given[]): Promise<{ endpoint: string; times: number[] }> {
  const times: number[] = [];
  server.removeAllListeners('request').on('request', (_request, response: ServerResponse) => {
    const { status, retryAfter } = given[Math.min(times.length, given.length - 1)] as Given;
    times.push(performance.now());
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"items": [], "next_cursor": null}');
  });
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}`, times };
}

const clientOf = (endpoint: string) =>
  createCloudClient({ endpoint, token: 't', version: '1.0.0', signal: new AbortController().signal });

test('a request that came too early is sent again when the hub allows it', async () => {
  const { endpoint, times } = await answering([{ status: 429, retryAfter: '1' }, { status: 503 }, { status: 200 }]);
  expect((await clientOf(endpoint).call('listTargets')).body?.items).toEqual([]);
  const [first = 0, second = 0, third = 0] = times;
  expect(second - first).toBeGreaterThanOrEqual(990);
  expect(third - second).toBeGreaterThanOrEqual(490);
  expect(times).toHaveLength(3);
});

test('a longer wait than ten seconds is left to the user', async () => {
  const { endpoint, times } = await answering([{ status: 429, retryAfter: '60' }]);
  await expect(clientOf(endpoint).call('listTargets')).rejects.toMatchObject({
    code: 'cloud_unreachable',
    exit: 4,
    hint: 'Try again in 60 s.',
  });
  expect(times).toHaveLength(1);
});
