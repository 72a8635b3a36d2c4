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
  const input = keyedInput(stdin as unknown as NodeJS.ReadStream, { onMouse: () => {} });
  const read: string[] = [];
  input.stream.on('readable', () => {
    for (let key = input.stream.read(); key !== null; key = input.stream.read()) read.push(key);
  });
  stdin.write(chunk);
  await expect.poll(() => read).toEqual(keys);
  input.close();
});

test('while text is typed a paste without marks is handed on in pieces of text, its keys alone', async () => {
  const stdin = new PassThrough();
  const url = `postgres://app@localhost:5432/${'x'.repeat(50)}`;
  let isTyping = false;
  const input = keyedInput(stdin as unknown as NodeJS.ReadStream, { onMouse: () => {}, isTyping: () => isTyping });
  const read: string[] = [];
  input.stream.on('readable', () => {
    for (let key = input.stream.read(); key !== null; key = input.stream.read()) {
      read.push(key);
      // As Enter opens a field, and applies its text.
      if (key === '\r') isTyping = !isTyping;
    }
  });
  stdin.write(`jk\r${url}\rjk`);
  await expect.poll(() => read).toEqual(['j', 'k', '\r', url, '\r', 'j', 'k']);
  input.close();
});
