import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
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

test('a paste without marks arrives as pieces of text while text is typed, keys separately', async () => {
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

describe('the answer to the question for the background', () => {
  const ANSWERS = ['\x1b]11;rgb:fafa/fbfb/fcfc\x1b\\', '\x1b]11;rgb:fafa/fbfb/fcfc\x07'];
  const ATTRIBUTES = '\x1b[?62;22c';

  test.for(ANSWERS)('%j is no key, however it is divided, between keys', async (answer) => {
    const text = `j${answer}${ATTRIBUTES}k`;
    for (let at = 1; at < text.length; at += 1) {
      const { write, read, backgrounds, input } = opened();
      write(text.slice(0, at));
      write(text.slice(at));
      await expect.poll(() => read.at(-1)).toBe('k');
      expect(read).toEqual(['j', 'k']);
      expect(backgrounds).toEqual(['light']);
      await input.answered();
      input.close();
    }
  });

  test('arrives after any time, in parts too, without a key', async () => {
    const { write, read, backgrounds, input } = opened();
    for (const part of ['\x1b]11;rgb:', '0000/0000/', '0000\x1b', '\\']) {
      write(part);
      // Longer than the rest of what could be Esc is waited for.
      await new Promise((resolve) => setTimeout(resolve, 80));
    }
    write('x');
    await expect.poll(() => read).toEqual(['x']);
    expect(backgrounds).toEqual(['dark']);
    input.close();
  });

  test('is not taken for Esc, which is a key soon, and Alt-]', async () => {
    const { write, read, input } = opened();
    write('\x1b');
    await expect.poll(() => read).toEqual(['\x1b']);
    write('\x1b]');
    await expect.poll(() => read).toEqual(['\x1b', '\x1b]']);
    input.close();
  });

  test('is waited for by who leaves, but not for long', async () => {
    const { input } = opened();
    const began = performance.now();
    await input.answered();
    expect(performance.now() - began).toBeLessThan(2000);
    input.close();
  });

  function opened() {
    const stdin = new PassThrough();
    const backgrounds: string[] = [];
    const input = keyedInput(stdin as unknown as NodeJS.ReadStream, {
      onMouse: () => {},
      onBackground: (background) => backgrounds.push(background),
    });
    input.expectAnswer();
    const read: string[] = [];
    input.stream.on('readable', () => {
      for (let key = input.stream.read(); key !== null; key = input.stream.read()) read.push(key);
    });
    return { write: (text: string) => feed(stdin, text), read, backgrounds, input };
  }

  /** As a terminal does: each write is a chunk of its own. */
  function feed(stdin: PassThrough, text: string): void {
    stdin.write(text);
    stdin.emit('readable');
  }
});
