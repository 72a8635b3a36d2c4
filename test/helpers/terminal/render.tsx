import { PassThrough } from 'node:stream';
import xterm from '@xterm/headless';
import { render as inkRender } from 'ink';
import type { ReactNode } from 'react';

export interface Rendered {
  /** What a person would see, a line each, without blanks at the ends. */
  screen(): Promise<string[]>;
  /** For each cell `b` where it has a background of its own, `r` where it is reversed; without blanks at the ends. */
  backgrounds(): Promise<string[]>;
  /** Colours of text and background, for each cell of a line; -1 is that of the terminal. */
  colors(row: number): Promise<{ text: number; background: number }[]>;
  rerender(node: ReactNode): void;
  unmount(): void;
}

/** Draws components by Ink's real writer into a terminal without a window: widths and cuts are those of a terminal. */
export function renderAt({ columns, rows }: { columns: number; rows: number }, node: ReactNode): Rendered {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true });
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns, rows });
  // Components that take keys ask for a terminal to read from.
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => stdin,
    ref: () => {},
    unref: () => {},
  });
  let written = Promise.resolve();
  stdout.on('data', (data: Buffer) => {
    const before = written;
    written = new Promise((resolve) => terminal.write(data, () => void before.then(resolve)));
  });
  const app = inkRender(node, {
    stdout,
    stdin: stdin as unknown as NodeJS.ReadStream,
    interactive: true,
    exitOnCtrlC: false,
    patchConsole: false,
    incrementalRendering: true,
  });
  return {
    async screen() {
      await app.waitUntilRenderFlush();
      await written;
      const line = (row: number) => terminal.buffer.active.getLine(row)?.translateToString(true) ?? '';
      return Array.from({ length: rows }, (_, row) => line(row).trimEnd());
    },
    async backgrounds() {
      await app.waitUntilRenderFlush();
      await written;
      const cellAt = (row: number, column: number) => terminal.buffer.active.getLine(row)?.getCell(column);
      const markOf = (cell: ReturnType<typeof cellAt>) => (cell?.isInverse() ? 'r' : cell?.isBgDefault() ? ' ' : 'b');
      const line = (row: number) => Array.from({ length: columns }, (_, column) => markOf(cellAt(row, column)));
      return Array.from({ length: rows }, (_, row) => line(row).join('').trimEnd());
    },
    async colors(row) {
      await app.waitUntilRenderFlush();
      await written;
      return Array.from({ length: columns }, (_, column) => {
        const cell = terminal.buffer.active.getLine(row)?.getCell(column);
        return {
          text: !cell || cell.isFgDefault() ? -1 : cell.getFgColor(),
          background: !cell || cell.isBgDefault() ? -1 : cell.getBgColor(),
        };
      });
    },
    rerender: (next) => app.rerender(next),
    unmount: () => app.unmount(),
  };
}

/** The lines of a frame without the sides of its panel. */
export function insidePanel(lines: string[]): string[] {
  return lines.map((line) => line.replace(/^[│|](.*?) *[│|]$/, '$1'));
}
