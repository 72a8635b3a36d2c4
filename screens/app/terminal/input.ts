import { EventEmitter } from 'node:events';
import {
  ANSWER_BEGUN,
  ATTRIBUTES_ANSWER,
  type Background,
  COLOR_ANSWER,
  MAYBE_ANSWER_BEGUN,
  readBackground,
} from './background.ts';
import { type MouseEvent, readMouse } from './mouse.ts';
import { standIn } from './stand-in.ts';

/** The input of Ink: the terminal, one key at a time. */
export interface KeyedInput {
  stream: NodeJS.ReadStream;
  /** Leaves the input to another program. */
  pause(): Promise<void>;
  resume(): void;
  /** The terminal was asked for its background: what looks like the beginning of an answer waits for its rest. */
  expectAnswer(): void;
  /** Resolves when the expected answer has arrived; soon in any case. */
  answered(): Promise<void>;
  close(): void;
}

export interface InputOptions {
  onMouse: (event: MouseEvent) => void;
  /** Reports whether keys are text now: consecutive characters are then passed on as one piece. */
  isTyping?: () => boolean;
  onBackground?: (background: Background) => void;
}

/** Timeout for the rest of a possible answer, which could also be Esc. */
const REST_MS = 50;
/** Timeout for an answer when leaving. */
const ANSWER_MS = 200;

const ESC = '\\x1b';
const PASTE = `${ESC}\\[200~[\\s\\S]*?(?:${ESC}\\[201~|$)`;
const SEQUENCE = `${ESC}\\[[\\x20-\\x3f]*[\\x40-\\x7e]`;
const ESCAPED = `${ESC}O?[\\s\\S]`;
/** An emoji may be many characters: consecutive characters beyond ASCII stay together. */
const CHARACTER = '\\p{ASCII}|\\P{ASCII}+';
const ONE_KEY = new RegExp(`${PASTE}|${COLOR_ANSWER}|${SEQUENCE}|${ESCAPED}|${CHARACTER}`, 'gu');

/**
 * Keys pressed faster than they are read arrive together, and components with a selection in their own state would
 * handle Enter before the effect of Down. So each key is passed on after the frame of the key before it. A paste from
 * a terminal without bracketed paste would take seconds that way: text is passed on whole.
 */
export function keyedInput(
  stdin: NodeJS.ReadStream,
  { onMouse, isTyping = () => false, onBackground = () => {} }: InputOptions,
): KeyedInput {
  const { stream, keys, close } = createKeyQueue(stdin, isTyping);
  let held = '';
  let rest: NodeJS.Timeout | undefined;
  let expected: PromiseWithResolvers<void> | null = null;
  const takeKey = (key: string): void => {
    const event = readMouse(key);
    if (event) onMouse(event);
    else if (isColorAnswer.test(key)) {
      const background = readBackground(key);
      if (background) onBackground(background);
    } else if (isAttributesAnswer.test(key)) {
      expected?.resolve();
      expected = null;
    } else keys.push(key);
  };
  const take = (text: string): void => {
    for (const key of text.match(ONE_KEY) ?? []) takeKey(key);
  };
  const onReadable = () => {
    for (let chunk = stdin.read(); chunk !== null; chunk = stdin.read()) {
      clearTimeout(rest);
      const text = held + String(chunk);
      const begun = ANSWER_BEGUN.exec(text) ?? (expected ? MAYBE_ANSWER_BEGUN.exec(text) : null);
      held = begun?.[0] ?? '';
      take(text.slice(0, text.length - held.length));
      if (held !== '') rest = setTimeout(takeHeld, REST_MS);
    }
    stream.emit('readable');
  };
  /** It was no answer; of one that has begun for certain, the rest is still waited for. */
  const takeHeld = () => {
    if (ANSWER_BEGUN.test(held)) return;
    take(held);
    held = '';
    stream.emit('readable');
  };
  stdin.on('readable', onReadable);
  return {
    stream: standIn(stdin, stream),
    async pause() {
      stdin.off('readable', onReadable);
      // The stream notices the removed listener a tick later; only then does pausing stop the reading.
      await new Promise(setImmediate);
      stdin.pause();
      await new Promise(setImmediate);
    },
    expectAnswer: () => {
      expected = Promise.withResolvers();
    },
    answered: async () => {
      if (!expected) return;
      const late = setTimeout(expected.resolve, ANSWER_MS);
      await expected.promise;
      clearTimeout(late);
    },
    resume: () => void stdin.on('readable', onReadable),
    close: () => {
      close();
      clearTimeout(rest);
      stdin.off('readable', onReadable);
    },
  };
}

/** Keys that wait to be read by Ink, one for each frame. */
function createKeyQueue(stdin: NodeJS.ReadStream, isTyping: () => boolean) {
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
  function announce(): void {
    next = undefined;
    if (keys.length > 0) stream.emit('readable');
  }
  return { stream, keys, close: () => clearImmediate(next) };
}

const isColorAnswer = new RegExp(`^${COLOR_ANSWER}$`);
const isAttributesAnswer = new RegExp(`^${ATTRIBUTES_ANSWER}$`);

function isText(key: string): boolean {
  return !/^\p{Cc}/u.test(key);
}
