import type { Glyphs } from '../src/presentation/shapes/glyphs.ts';
import type { Span } from './line.tsx';

export function progressBar({ share, width, glyphs }: { share: number; width: number; glyphs: Glyphs }): Span[] {
  const full = Math.floor(Math.max(0, Math.min(1, share)) * width);
  return [
    { text: glyphs.barFull.repeat(full), tone: 'accent' },
    { text: glyphs.barEmpty.repeat(Math.max(0, width - full)), tone: 'dim' },
  ];
}
