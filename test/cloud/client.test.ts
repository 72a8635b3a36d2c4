import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
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
