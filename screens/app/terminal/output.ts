import { EventEmitter } from 'node:events';
import { frameChanges } from './frame-changes.ts';
import { standIn } from './stand-in.ts';

/** `fd` is for synchronous writes before the process ends. */
export type TerminalOutput = NodeJS.WriteStream & { fd: number };

/** The output of Ink: the terminal, with the window's size settled. */
export interface SettledOutput {
  stream: NodeJS.WriteStream;
  /** Called when the size has settled, before the next frame. */
  onSettled: (clear: () => void) => void;
  close(): void;
}

interface OutputOptions {
  unicode: boolean;
  /** Frames are written as they are. */
  screenReader: boolean;
}

/** While a window is dragged, sizes come in bursts; only the last is worth a frame. */
const SETTLE_MS = 40;

const HOME_AND_ERASE = '\x1b[H\x1b[J';

/**
 * Ink draws a resized window over the old frame, which leaves remnants of longer lines. So it learns of a new size only
 * once it has settled, and starts on an empty screen.
 */
export function settledOutput(stdout: TerminalOutput, { unicode, screenReader }: OutputOptions): SettledOutput {
  let forgetFrame = () => {};
  const withChanges = screenReader ? (text: string) => text : changesOfFrames();
  let timer: NodeJS.Timeout | undefined;
  const stream = Object.assign(new EventEmitter(), {
    isTTY: true,
    columns: stdout.columns,
    rows: stdout.rows,
    fd: stdout.fd,
    write(text: string, ...rest: []) {
      return stdout.write(withChanges(unicode ? text : plainPunctuation(text)), ...rest);
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
    stream: standIn(stdout, stream),
    onSettled: (clear) => {
      forgetFrame = clear;
    },
    close: () => {
      clearTimeout(timer);
      stdout.off('resize', onResize);
    },
  };
}

const ESC = '\x1b';
/** The sequences that Ink writes before a frame: they erase the previous one, or the whole window. */
const ERASES = new RegExp(`^(?:(?:${ESC}\\[2K(?:${ESC}\\[1A)?)+${ESC}\\[G|${ESC}\\[1;1H${ESC}\\[J)`);

/** Ink erases each frame and draws the next one. Returns what writes only the cells that changed. */
function changesOfFrames(): (text: string) => string {
  let shown: string[] = [];
  return (text) => {
    const frame = text.replace(ERASES, '');
    const isErased = frame !== text;
    if (!frame.includes('\n')) {
      if (isErased) shown = [];
      return text;
    }
    const lines = frame.split('\n');
    const isWhole = !isErased || shown.length !== lines.length;
    const changes = frameChanges(isWhole ? [] : shown, lines);
    shown = lines;
    return isWhole ? HOME_AND_ERASE + changes : changes;
  };
}

const PLAIN: Record<string, string> = { '…': '~', '→': '>', '←': '<', '↑': '^', '↓': 'v', '–': '-', '·': '|' };
const PUNCTUATION = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');

/** Replaces the punctuation of sentences and the names of keys by ASCII of the same width. */
function plainPunctuation(text: string): string {
  return text.replace(PUNCTUATION, (character) => PLAIN[character] ?? character);
}
