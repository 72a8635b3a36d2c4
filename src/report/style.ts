import { styleText } from 'node:util';
import { printableLines } from '../text/printable.ts';

/** How the plain output looks: colours where wanted, marks that the terminal can show. */
export interface Style {
  paint: (tone: Tone, text: string) => string;
  marks: Marks;
}

export type Tone = 'strong' | 'dim' | 'accent' | 'good' | 'caution' | 'bad';

export interface Marks {
  done: string;
  failed: string;
  skipped: string;
  running: string;
  none: string;
  ellipsis: string;
  barFull: string;
  barEmpty: string;
}

const FORMATS = {
  strong: 'bold',
  dim: 'dim',
  accent: 'cyan',
  good: 'green',
  caution: 'yellow',
  bad: 'red',
} as const satisfies Record<Tone, Parameters<typeof styleText>[0]>;

const UNICODE: Marks = {
  done: '✓',
  failed: '✗',
  skipped: '–',
  running: '●',
  none: '–',
  ellipsis: '…',
  barFull: '█',
  barEmpty: '░',
};

const ASCII: Marks = {
  done: '+',
  failed: 'x',
  skipped: '-',
  running: '*',
  none: '-',
  ellipsis: '~',
  barFull: '#',
  barEmpty: '.',
};

export function createStyle({ color, unicode }: { color: boolean; unicode: boolean }): Style {
  return {
    // Whether to colour was decided by our own terminal.ts; the stream must not decide again.
    paint: (tone, text) => (color ? styleText(FORMATS[tone], printableLines(text), { validateStream: false }) : text),
    marks: unicode ? UNICODE : ASCII,
  };
}
