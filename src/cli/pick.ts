import { emitKeypressEvents } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { interrupted } from '../runtime/errors.ts';
import { cellWidth, cut } from '../text/text-width.ts';
import { PICK, type PickItem } from './pick-text.ts';

export interface PickOptions {
  prompt: string;
  items: PickItem[];
  /** A terminal: it is switched to single keys meanwhile. */
  input: Readable & { setRawMode?: (raw: boolean) => unknown };
  /** Emits `resize` when its size changes. */
  output: Writable & { rows?: number };
  columns: () => number | null;
  unicode: boolean;
  signal: AbortSignal;
}

interface Key {
  name?: string;
  ctrl?: boolean;
  meta?: boolean;
}

/** Rows of the list. */
const MOST = 10;

/** Resolves with the value of the chosen item; `null` after Esc. The list is removed from the terminal at the end. */
export async function pick({
  prompt,
  items,
  input,
  output,
  columns,
  unicode,
  signal,
}: PickOptions): Promise<string | null> {
  const picked = Promise.withResolvers<string | null>();
  let filter = '';
  let index = 0;
  let drawn: string[] = [];

  const found = (): PickItem[] =>
    items.filter(({ label }) =>
      filter
        .toLowerCase()
        .split(/\s+/)
        .every((word) => label.toLowerCase().includes(word)),
    );

  const width = (): number => columns() ?? 80;

  /** Moves to the first line of the list, and clears from there. */
  const clear = (): void => {
    // A narrower terminal has wrapped them.
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(cellWidth(line) / width())), 0);
    output.write(`${rows > 1 ? `\x1b[${rows - 1}A` : ''}\r\x1b[J`);
    drawn = [];
  };

  const draw = (): void => {
    const shown = found();
    const most = Math.max(1, Math.min(MOST, (output.rows ?? 24) - 2));
    const from = Math.max(0, Math.min(index - most + 1, shown.length - most));
    const rows = shown
      .slice(from, from + most)
      .map(({ label }, row) => `${from + row === index ? (unicode ? '❯' : '>') : ' '} ${label}`);
    const lines = [
      `${prompt} ${filter}`,
      ...(rows.length === 0 ? [`  ${PICK.noMatch}`] : rows),
      `  ${unicode ? PICK.keys : PICK.keysAscii}`,
    ].map((line) => cut(line, width() - 1, unicode ? '…' : '~'));
    clear();
    output.write(lines.join('\n'));
    drawn = lines;
  };

  const onKey = (text: string | undefined, { name, ctrl = false, meta = false }: Key): void => {
    const last = found().length - 1;
    if (ctrl && name === 'c') picked.reject(interrupted());
    if (name === 'escape' || (ctrl && name === 'd')) picked.resolve(null);
    const item = found()[index];
    if ((name === 'return' || name === 'enter') && item) picked.resolve(item.value);
    if (name === 'up' || (ctrl && name === 'p')) index = Math.max(0, index - 1);
    else if (name === 'down' || name === 'tab' || (ctrl && name === 'n'))
      index = Math.max(0, Math.min(last, index + 1));
    else if (name === 'backspace') [filter, index] = [[...filter].slice(0, -1).join(''), 0];
    else if (ctrl && name === 'u') [filter, index] = ['', 0];
    else if (text !== undefined && !ctrl && !meta && /^[^\p{Cc}]+$/u.test(text)) [filter, index] = [filter + text, 0];
    draw();
  };
  const onEnd = (): void => picked.resolve(null);
  const onAbort = (): void => picked.reject(signal.reason);

  emitKeypressEvents(input);
  input.setRawMode?.(true);
  input.on('keypress', onKey);
  input.once('end', onEnd);
  signal.addEventListener('abort', onAbort, { once: true });
  input.resume();
  output.on('resize', draw);
  try {
    signal.throwIfAborted();
    draw();
    return await picked.promise;
  } finally {
    input.off('keypress', onKey);
    input.off('end', onEnd);
    output.off('resize', draw);
    signal.removeEventListener('abort', onAbort);
    input.setRawMode?.(false);
    input.pause();
    clear();
  }
}
