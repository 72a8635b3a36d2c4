import { styleText } from 'node:util';
import { ASCII, type Glyphs, type Tone, UNICODE } from '../../presentation/shapes/glyphs.ts';
import { printable } from '../../text/printable.ts';

/** Style of the plain output: colours on request, glyphs that the terminal can show. */
export interface Style {
  paint: (tone: Tone, text: string) => string;
  glyphs: Glyphs;
}

const FORMATS = {
  strong: 'bold',
  dim: 'dim',
  accent: 'cyan',
  good: 'green',
  caution: 'yellow',
  bad: 'red',
} as const satisfies Record<Exclude<Tone, 'plain'>, Parameters<typeof styleText>[0]>;

export function createStyle({ color, unicode }: { color: boolean; unicode: boolean }): Style {
  return {
    // Whether to colour was decided by our own terminal.ts; the stream must not decide again.
    paint: (tone, text) =>
      color && tone !== 'plain'
        ? styleText(FORMATS[tone], printable(text), { validateStream: false })
        : printable(text),
    glyphs: unicode ? UNICODE : ASCII,
  };
}
