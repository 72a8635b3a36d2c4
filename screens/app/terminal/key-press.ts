import type { Key } from 'ink';
import { graphemes } from '../../../src/text/text-width.ts';

/**
 * The names of the keys in one piece of input, in order: `j`, `up`, `enter`, `ctrl+c`. Fast typing and slow lines
 * make several keys arrive as one piece, such as `jjj`.
 */
export function keyPresses(input: string, key: Key): string[] {
  if (key.shift && key.tab) return ['shift+tab'];
  const named = NAMED.find((name) => key[name]);
  if (named) return [KEY_NAMES[named]];
  if (key.ctrl) return [`ctrl+${input}`];
  if (key.meta) return [];
  return graphemes(input).map((character) => CONTROL_CHARACTERS[character] ?? character);
}

const KEY_NAMES = {
  upArrow: 'up',
  downArrow: 'down',
  leftArrow: 'left',
  rightArrow: 'right',
  pageUp: 'pageup',
  pageDown: 'pagedown',
  home: 'home',
  end: 'end',
  return: 'enter',
  escape: 'esc',
  tab: 'tab',
  backspace: 'backspace',
  delete: 'delete',
} as const satisfies Partial<Record<keyof Key, string>>;

const NAMED = Object.keys(KEY_NAMES) as (keyof typeof KEY_NAMES)[];

const CONTROL_CHARACTERS: Record<string, string> = {
  '\r': 'enter',
  '\n': 'enter',
  '\r\n': 'enter',
  '\t': 'tab',
  ' ': 'space',
};
