import { setTimeout as deadline } from 'node:timers/promises';
import pty from '@lydell/node-pty';
import xterm from '@xterm/headless';
import stringWidth from 'string-width';

export interface TerminalOptions {
  command: [string, ...string[]];
  columns?: number;
  rows?: number;
  cwd?: string;
  environment?: Record<string, string>;
  /** Whether `widest` is asked for. */
  measured?: boolean;
}

/** A program in a real pseudo-terminal, and what a person would see on its screen. */
export interface TestTerminal {
  /** The screen as text, a line each, without blanks at the ends. */
  screen(): string;
  /** The screen with its looks, for a picture of it. */
  cells(): Cell[][];
  /** Keys as a terminal sends them, or the names in KEYS. */
  press(...keys: string[]): void;
  /** Resolves when the text, or what the function looks for, is on the screen; else shows the screen and fails. */
  waitFor(wanted: string | RegExp | ((screen: string) => boolean), withinMs?: number): Promise<void>;
  resize(columns: number, rows: number): void;
  /** Columns that the program has used, of a terminal with more than it was told. */
  widest(): number;
  columns(): number;
  /** Bytes that the program has written so far. */
  bytesWritten(): number;
  /** What the program has written last, at most 100,000 characters. */
  written(): string;
  /** What it was told to announce so far: titles of the window in turn, bells, and desktop notifications (OSC 9). */
  announced(): { titles: string[]; bells: number; notifications: string[] };
  /** Which of the states that programs must put back are on. */
  modes(): { alternateScreen: boolean; cursorHidden: boolean; autowrap: boolean; bracketedPaste: boolean };
  signal(name: NodeJS.Signals): void;
  /** Fails with the screen of a program that goes on. */
  exited(withinMs?: number): Promise<{ exitCode: number }>;
  close(): void;
}

/** What stands in a cell, or in two, and how; a colour is its number in the terminal's palette, -1 the default. */
export interface Cell {
  text: string;
  width: number;
  foreground: number;
  background: number;
  bold: boolean;
  dim: boolean;
  inverse: boolean;
  underline: boolean;
}

const MORE = 40;

const KEYS: Record<string, string> = {
  enter: '\r',
  esc: '\x1b',
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
  pageup: '\x1b[5~',
  pagedown: '\x1b[6~',
  home: '\x1b[H',
  end: '\x1b[F',
  tab: '\t',
  backspace: '\x7f',
  'ctrl+c': '\x03',
  'ctrl+z': '\x1a',
};

export function openTerminal({
  command,
  columns = 80,
  rows = 24,
  cwd,
  environment = {},
  measured = false,
}: TerminalOptions): TestTerminal {
  const [file, ...args] = command;
  // With CI in the environment, even empty, Ink draws nothing before it ends.
  const { CI: _, NO_COLOR: __, FORCE_COLOR: ___, ...inherited } = process.env;
  const env = { ...inherited, TERM: 'xterm-256color', LANG: 'C.UTF-8', ...environment };
  const child = pty.spawn(file, args, { cols: columns, rows, cwd: cwd ?? process.cwd(), env });
  const terminal = new xterm.Terminal({
    ...{ cols: columns, rows, allowProposedApi: true, scrollback: 1000 },
    windowOptions: { pushTitle: true, popTitle: true },
  });
  // What is too wide for the window shows in one with more columns.
  const wider = measured ? new xterm.Terminal({ cols: columns + MORE, rows, allowProposedApi: true }) : null;
  for (const one of [terminal, ...(wider ? [wider] : [])]) {
    one.unicode.register({ version: 'modern', wcwidth, charProperties });
    one.unicode.activeVersion = 'modern';
  }
  const watchers = new Set<() => void>();
  let bytes = 0;
  let written = '';
  let cursorHidden = false;
  terminal.parser.registerCsiHandler({ prefix: '?', final: 'l' }, (parameters) => {
    if (parameters.includes(25)) cursorHidden = true;
    return false;
  });
  terminal.parser.registerCsiHandler({ prefix: '?', final: 'h' }, (parameters) => {
    if (parameters.includes(25)) cursorHidden = false;
    return false;
  });
  const announced = { titles: [] as string[], bells: 0, notifications: [] as string[] };
  terminal.onTitleChange((title) => announced.titles.push(title));
  terminal.onBell(() => {
    announced.bells += 1;
  });
  terminal.parser.registerOscHandler(9, (text) => announced.notifications.push(text) > 0);
  child.onData((data) => {
    bytes += Buffer.byteLength(data);
    written = (written + data).slice(-100_000);
    wider?.write(data);
    terminal.write(data, () => {
      for (const look of watchers) look();
    });
  });
  const ended = new Promise<{ exitCode: number }>((resolve) => child.onExit(resolve));
  const screen = () => screenText(terminal);

  return {
    screen,
    cells: () => screenCells(terminal),
    press: (...keys) => {
      for (const key of keys) child.write(KEYS[key] ?? key);
    },
    async waitFor(wanted, withinMs = 10_000) {
      // A frame arrives in pieces; nobody sees it before its end.
      const found = () => !terminal.modes.synchronizedOutputMode && isOn(screen(), wanted);
      if (found()) return;
      const seen = Promise.withResolvers<'seen'>();
      const look = () => {
        if (found()) seen.resolve('seen');
      };
      watchers.add(look);
      const enough = new AbortController();
      const first = await Promise.race([seen.promise, deadline(withinMs, 'late', { signal: enough.signal })]);
      watchers.delete(look);
      enough.abort();
      if (first === 'late') throw new Error(`not on the screen within ${withinMs} ms: ${wanted}\n${framed(screen())}`);
    },
    resize(width, height) {
      terminal.resize(width, height);
      wider?.resize(width + MORE, height);
      child.resize(width, height);
    },
    columns: () => terminal.cols,
    widest: () =>
      wider
        ? Math.max(
            ...screenText(wider)
              .split('\n')
              .map((line) => stringWidth(line)),
          )
        : 0,
    bytesWritten: () => bytes,
    written: () => written,
    announced: () => announced,
    modes: () => ({
      alternateScreen: terminal.buffer.active.type === 'alternate',
      cursorHidden,
      autowrap: terminal.modes.wraparoundMode,
      bracketedPaste: terminal.modes.bracketedPasteMode,
    }),
    signal: (name) => child.kill(name),
    async exited(withinMs = 30_000) {
      const first = await Promise.race([ended, deadline(withinMs, null, { ref: false })]);
      if (!first) throw new Error(`not ended within ${withinMs} ms\n${framed(screen())}`);
      return first;
    },
    close() {
      child.kill('SIGKILL');
      terminal.dispose();
      wider?.dispose();
    },
  };
}

function screenText({ buffer, cols, rows }: InstanceType<typeof xterm.Terminal>): string {
  const { active } = buffer;
  // Lines keep what a narrower window hides: only the columns of the window are seen.
  const line = (row: number) => active.getLine(active.baseY + row)?.translateToString(true, 0, cols) ?? '';
  return Array.from({ length: rows }, (_, row) => line(row).trimEnd()).join('\n');
}

function screenCells({ buffer, cols, rows }: InstanceType<typeof xterm.Terminal>): Cell[][] {
  const { active } = buffer;
  return Array.from({ length: rows }, (_, row) => {
    const line = active.getLine(active.baseY + row);
    return Array.from({ length: cols }, (_, column) => line?.getCell(column)).flatMap((cell) =>
      // The second half of a wide character has no width.
      !cell || cell.getWidth() === 0
        ? []
        : [
            {
              text: cell.getChars() || ' ',
              width: cell.getWidth(),
              foreground: cell.isFgDefault() ? -1 : cell.getFgColor(),
              background: cell.isBgDefault() ? -1 : cell.getBgColor(),
              bold: cell.isBold() !== 0,
              dim: cell.isDim() !== 0,
              inverse: cell.isInverse() !== 0,
              underline: cell.isUnderline() !== 0,
            },
          ],
    );
  });
}

function isOn(screen: string, wanted: string | RegExp | ((screen: string) => boolean)): boolean {
  if (typeof wanted === 'function') return wanted(screen);
  if (typeof wanted !== 'string') return wanted.test(screen);
  // A sentence is found where its lines are broken, too.
  return screen.includes(wanted) || screen.replace(/\s*\n\s*/g, ' ').includes(wanted);
}

function framed(screen: string): string {
  return screen
    .split('\n')
    .map((line) => `│ ${line}`)
    .join('\n');
}

// xterm knows the widths of Unicode 6, in which no emoji is wide; terminals of today agree with string-width.
function wcwidth(codePoint: number): 0 | 1 | 2 {
  return Math.min(2, stringWidth(String.fromCodePoint(codePoint))) as 0 | 1 | 2;
}

function charProperties(codePoint: number): number {
  return wcwidth(codePoint) << 1;
}
