import { expect, test } from 'vitest';
import { createMemory, type Lent } from '../../src/snapshots/memory.ts';

test('pieces are lent while there is room, do not overlap, and come again', async () => {
  const memory = createMemory(100);
  const [one, two, three] = [await memory.take(40), await memory.take(30), await memory.take(30)];
  for (const [index, { bytes }] of [one, two, three].entries()) bytes.fill(index + 1);
  expect([one, two, three].map(({ bytes }) => [bytes.length, bytes[0], bytes.at(-1)])).toEqual([
    [40, 1, 1],
    [30, 2, 2],
    [30, 3, 3],
  ]);
  two[Symbol.dispose]();
  const again = await memory.take(25);
  expect([again.bytes.buffer === one.bytes.buffer, again.bytes[0]]).toEqual([true, 2]);
});

test('who asks for more than is free waits, and all others behind them', async () => {
  const memory = createMemory(100);
  const order: string[] = [];
  const take = async (name: string, length: number): Promise<Lent> => {
    const lent = await memory.take(length);
    order.push(name);
    return lent;
  };
  const first = await take('first', 60);
  const [second, third] = [take('second', 50), take('third', 10)];
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual(['first']);
  first[Symbol.dispose]();
  await Promise.all([second, third]);
  expect(order).toEqual(['first', 'second', 'third']);
});

test('more than there is in all is made, when nothing else is lent', async () => {
  const memory = createMemory(100);
  const small = await memory.take(1);
  const large = memory.take(1000);
  small[Symbol.dispose]();
  expect((await large).bytes).toHaveLength(1000);
});
