/** Rows and columns count from 0 at the top left of the window. */
export type MouseEvent = { kind: 'wheel-up' | 'wheel-down' | 'other' } | { kind: 'click'; row: number; column: number };

/** Presses and the wheel, in SGR encoding. Disables the terminal's own text selection. */
export const MOUSE_ON = '\x1b[?1000h\x1b[?1006h';
export const MOUSE_OFF = '\x1b[?1006l\x1b[?1000l';

const WHEEL: Record<string, 'wheel-up' | 'wheel-down'> = { 64: 'wheel-up', 65: 'wheel-down' };

/** `null` when the sequence is no mouse event. */
export function readMouse(sequence: string): MouseEvent | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what begins it
  const [, button, column, row, final] = /^\x1b\[<(\d+);(\d+);(\d+)([Mm])$/.exec(sequence) ?? [];
  if (button === undefined) return null;
  const wheel = WHEEL[button];
  if (wheel) return { kind: wheel };
  return button === '0' && final === 'M'
    ? { kind: 'click', row: Number(row) - 1, column: Number(column) - 1 }
    : { kind: 'other' };
}
