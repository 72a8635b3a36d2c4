import { EventEmitter } from 'node:events';

/** `fd` is for synchronous writes before the process ends. */
export type TerminalOutput = NodeJS.WriteStream & { fd: number };

/** The output of Ink: the terminal, with the window's size settled. */
export interface SettledOutput {
  stream: NodeJS.WriteStream;
  /** Called when the size has settled, before the next frame. */
  onSettled: (clear: () => void) => void;
  close(): void;
}

/** While a window is dragged, sizes come in bursts; only the last is worth a frame. */
const SETTLE_MS = 40;

const HOME_AND_ERASE = '\x1b[H\x1b[J';

/** Ink draws from the cursor, which may follow echoed input. */
const ENTER = '\x1b[?1049h';
const ENTER_AT_HOME = `${ENTER}\x1b[H`;

/**
 * Ink draws a resized window over the old frame, which leaves remnants of longer lines. So it learns of a new size only
 * once it has settled, and starts on an empty screen.
 */
export function settledOutput(stdout: TerminalOutput, { unicode = true } = {}): SettledOutput {
  let forgetFrame = () => {};
  let timer: NodeJS.Timeout | undefined;
  const stream = Object.assign(new EventEmitter(), {
    isTTY: true,
    columns: stdout.columns,
    rows: stdout.rows,
    fd: stdout.fd,
    write(text: string, ...rest: []) {
      const short = shortBlanks(text.replace(ENTER, ENTER_AT_HOME));
      return stdout.write(unicode ? short : plainPunctuation(short), ...rest);
    },
  });
  const settle = () => {
    if (stream.columns === stdout.columns && stream.rows === stdout.rows) return;
    stream.columns = stdout.columns;
    stream.rows = stdout.rows;
    forgetFrame();
    stdout.write(HOME_AND_ERASE);
    stream.emit('resize');
  };
  const onResize = () => {
    clearTimeout(timer);
    timer = setTimeout(settle, SETTLE_MS);
  };
  stdout.on('resize', onResize);
  return {
    // Ink uses only these members of a stream.
    stream: stream as unknown as NodeJS.WriteStream,
    onSettled: (clear) => {
      forgetFrame = clear;
    },
    close: () => {
      clearTimeout(timer);
      stdout.off('resize', onResize);
    },
  };
}

const ESC = '\\x1b';
const STYLES_AND_BLANKS = new RegExp(`${ESC}\\[([\\d;]*)m| {12,}`, 'g');
const PAINTS = /^(?:48;|4[0-7]$|10[0-7]$|7$)/;
const PAINTS_NO_MORE = /^(?:0?$|27$|49$)/;

/**
 * Between a text and the side of its panel are blanks: they are erased, in a tenth of the bytes. Where there is a
 * background they are written, because some terminals erase without it.
 */
export function shortBlanks(text: string): string {
  let painted = false;
  return text.replace(STYLES_AND_BLANKS, (match: string, style?: string) => {
    if (style === undefined) return painted ? match : `\x1b[${match.length}X\x1b[${match.length}C`;
    if (PAINTS.test(style)) painted = true;
    else if (PAINTS_NO_MORE.test(style)) painted = false;
    return match;
  });
}

const PLAIN: Record<string, string> = { '…': '~', '→': '>', '←': '<', '↑': '^', '↓': 'v', '–': '-', '·': '|' };
const PUNCTUATION = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');

/** Replaces the punctuation of sentences and the names of keys by ASCII of the same width. */
function plainPunctuation(text: string): string {
  return text.replace(PUNCTUATION, (character) => PLAIN[character] ?? character);
}
