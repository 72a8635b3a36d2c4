import { EventEmitter } from 'node:events';
import { type MouseEvent, readMouse } from './mouse.ts';

/** The input of Ink: the terminal, one key at a time. */
export interface KeyedInput {
  stream: NodeJS.ReadStream;
  /** Leaves the input to another program. */
  pause(): Promise<void>;
  resume(): void;
  close(): void;
}

export interface InputOptions {
  onMouse: (event: MouseEvent) => void;
  /** Whether keys are text now: consecutive characters are then passed on as one piece. */
  isTyping?: () => boolean;
}

const ESC = '\\x1b';
const PASTE = `${ESC}\\[200~[\\s\\S]*?(?:${ESC}\\[201~|$)`;
const SEQUENCE = `${ESC}\\[[\\x20-\\x3f]*[\\x40-\\x7e]`;
const ESCAPED = `${ESC}O?[\\s\\S]`;
/** An emoji may be many characters: consecutive characters beyond ASCII stay together. */
const CHARACTER = '\\p{ASCII}|\\P{ASCII}+';

/**
 * Keys pressed faster than they are read arrive together, and components with a selection in their own state would
 * handle Enter before the effect of Down. So each key is passed on after the frame of the key before it. A paste from
 * a terminal without bracketed paste would take seconds that way: text is passed on whole.
 */
export function keyedInput(stdin: NodeJS.ReadStream, { onMouse, isTyping = () => false }: InputOptions): KeyedInput {
  const oneKey = new RegExp(`${PASTE}|${SEQUENCE}|${ESCAPED}|${CHARACTER}`, 'gu');
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
      let key = keys.shift() ?? null;
      if (key !== null && isText(key) && isTyping()) {
        const end = keys.findIndex((other) => !isText(other));
        key += keys.splice(0, end === -1 ? keys.length : end).join('');
      }
      if (key !== null) next = setImmediate(announce);
      return key;
    },
  });
  const announce = () => {
    next = undefined;
    if (keys.length > 0) stream.emit('readable');
  };
  const onReadable = () => {
    for (let chunk = stdin.read(); chunk !== null; chunk = stdin.read()) {
      for (const key of String(chunk).match(oneKey) ?? []) {
        const event = readMouse(key);
        if (event) onMouse(event);
        else keys.push(key);
      }
    }
    stream.emit('readable');
  };
  stdin.on('readable', onReadable);
  return {
    // Ink uses only these members of a stream.
    stream: stream as unknown as NodeJS.ReadStream,
    async pause() {
      stdin.off('readable', onReadable);
      // The stream notices the removed listener a tick later; only then does pausing stop the reading.
      await new Promise(setImmediate);
      stdin.pause();
      await new Promise(setImmediate);
    },
    resume: () => void stdin.on('readable', onReadable),
    close: () => {
      clearImmediate(next);
      stdin.off('readable', onReadable);
    },
  };
}

function isText(key: string): boolean {
  return !/^\p{Cc}/u.test(key);
}
