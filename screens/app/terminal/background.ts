/** Brightness of the terminal's background. */
export type Background = 'dark' | 'light';

/**
 * OSC 11 asks for the background, which not every terminal knows; every terminal answers DA1, and in order, so that its
 * answer tells that no other is to come. https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
 */
export const ASK_FOR_BACKGROUND = '\x1b]11;?\x1b\\\x1b[c';

const ESC = '\\x1b';

/** An answer to OSC 11. */
export const COLOR_ANSWER = `${ESC}\\]11;[\\x20-\\x7e]{0,64}(?:\\x07|${ESC}\\\\)`;

/** An answer to DA1. */
export const ATTRIBUTES_ANSWER = `${ESC}\\[\\?[\\d;]{0,64}c`;

/** The beginning of an answer, the rest of which has not arrived. Shorter ones may be keys: Esc, Alt-]. */
export const ANSWER_BEGUN = new RegExp(`${ESC}(?:\\]11;[\\x20-\\x7e]{0,64}${ESC}?|\\[\\?[\\d;]{0,64})$`);
export const MAYBE_ANSWER_BEGUN = new RegExp(`${ESC}(?:\\](?:1{1,2})?|\\[)?$`);

const COLOR = /rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/i;

/** `null` when the answer names no colour. */
export function readBackground(answer: string): Background | null {
  const [, ...parts] = COLOR.exec(answer) ?? [];
  if (parts.length !== 3) return null;
  const [red = 0, green = 0, blue = 0] = parts.map((hex) => Number.parseInt(hex, 16) / (16 ** hex.length - 1));
  // Perceived brightness: ITU-R BT.601.
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 ? 'light' : 'dark';
}
