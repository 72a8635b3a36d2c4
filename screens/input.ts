import { EventEmitter } from 'node:events';

/** What Ink is given as its input: the terminal, one key at a time. */
export interface KeyedInput {
  stream: NodeJS.ReadStream;
  close(): void;
}

// A bracketed paste, an escape sequence, a character of ASCII, or a run of what may be one emoji.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what keys send
const ONE_KEY =
  /\x1b\[200~[\s\S]*?(?:\x1b\[201~|$)|\x1b\[[\x20-\x3f]*[\x40-\x7e]|\x1bO?[\s\S]|[\x00-\x7f]|[^\x00-\x7f]+/g;

/**
 * Keys pressed faster than they are read arrive together, and components that keep a selection in their own state act
 * on the one before the last: Down and Enter would choose what Enter alone does. So each key is handed on by itself,
 * after what the one before it changed has been drawn.
 */
export function keyedInput(stdin: NodeJS.ReadStream): KeyedInput {
  const keys: string[] = [];
  let next: NodeJS.Immediate | undefined;
  const stream = Object.assign(new EventEmitter(), {
    isTTY: true,
    setRawMode: (raw: boolean) => stdin.setRawMode(raw),
    setEncoding: (encoding: BufferEncoding) => stdin.setEncoding(encoding),
    ref: () => stdin.ref(),
    unref: () => stdin.unref(),
    read: () => {
      if (next) return null;
      const key = keys.shift() ?? null;
      if (key !== null) next = setImmediate(announce);
      return key;
    },
  });
  const announce = () => {
    next = undefined;
    if (keys.length > 0) stream.emit('readable');
  };
  const onReadable = () => {
    for (let chunk = stdin.read(); chunk !== null; chunk = stdin.read())
      keys.push(...(String(chunk).match(ONE_KEY) ?? []));
    stream.emit('readable');
  };
  stdin.on('readable', onReadable);
  return {
    // Ink uses no more of a stream than what is here.
    stream: stream as unknown as NodeJS.ReadStream,
    close: () => {
      clearImmediate(next);
      stdin.off('readable', onReadable);
    },
  };
}
