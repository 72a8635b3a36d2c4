import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { keyedInput } from '../../../../screens/app/terminal/input.ts';

test.each([
  ['jj\r', ['j', 'j', '\r']],
  ['\x1b[B\r', ['\x1b[B', '\r']],
  ['\x1bOAx', ['\x1bOA', 'x']],
  ['a👨‍👩‍👧b', ['a', '👨‍👩‍👧', 'b']],
  ['\x1b[200~one\rtwo\x1b[201~q', ['\x1b[200~one\rtwo\x1b[201~', 'q']],
])('%j is handed on key by key', async (chunk, keys) => {
  const stdin = new PassThrough();
  const input = keyedInput(stdin as unknown as NodeJS.ReadStream, () => {});
  const read: string[] = [];
  input.stream.on('readable', () => {
    for (let key = input.stream.read(); key !== null; key = input.stream.read()) read.push(key);
  });
  stdin.write(chunk);
  await expect.poll(() => read).toEqual(keys);
  input.close();
});
