import { expect, test } from 'vitest';
import { createBufferPool, type PooledBuffer } from '../../src/repository/buffer-pool.ts';

test('buffers do not overlap, and are used again once disposed of', async () => {
  const pool = createBufferPool(100);
  const [one, two, three] = [await pool.acquire(40), await pool.acquire(30), await pool.acquire(30)];
  for (const [index, { bytes }] of [one, two, three].entries()) bytes.fill(index + 1);
  expect([one, two, three].map(({ bytes }) => [bytes.length, bytes[0], bytes.at(-1)])).toEqual([
    [40, 1, 1],
    [30, 2, 2],
    [30, 3, 3],
  ]);
  two[Symbol.dispose]();
  const again = await pool.acquire(25);
  expect([again.bytes.buffer === one.bytes.buffer, again.bytes[0]]).toEqual([true, 2]);
});

test('a request for more than is free waits, and later requests wait behind it', async () => {
  const pool = createBufferPool(100);
  const order: string[] = [];
  const take = async (name: string, length: number): Promise<PooledBuffer> => {
    const buffer = await pool.acquire(length);
    order.push(name);
    return buffer;
  };
  const first = await take('first', 60);
  const [second, third] = [take('second', 50), take('third', 10)];
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual(['first']);
  first[Symbol.dispose]();
  await Promise.all([second, third]);
  expect(order).toEqual(['first', 'second', 'third']);
});

test('a request for more than the pool is allocated once the whole pool is free', async () => {
  const pool = createBufferPool(100);
  const small = await pool.acquire(1);
  const large = pool.acquire(1000);
  small[Symbol.dispose]();
  expect((await large).bytes).toHaveLength(1000);
});
