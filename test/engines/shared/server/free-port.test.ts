import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { expect, test } from 'vitest';
import { withFreePort } from '../../../../src/engines/shared/server/free-port.ts';

test('a server starts on another port when another program takes the free one that was chosen', async () => {
  let chosen = 0;
  const others: Server[] = [];
  const port = await withFreePort(async (free) => {
    if (others.length === 0) {
      chosen = free;
      others.push(createServer().listen(free, '127.0.0.1'));
      await once(others[0] as Server, 'listening');
      throw new Error('the address is in use');
    }
    return free;
  });
  expect(port).not.toBe(chosen);
  others[0]?.close();
});
