import stringWidth from 'string-width';
import { printable } from './printable.ts';

/** Width in cells of the terminal; wide characters and emoji take two. */
export function cellWidth(text: string): number {
  return isAscii(text) ? text.length : stringWidth(text);
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** Shortens the text to a width, with an ellipsis. Control characters are replaced. */
export function cut(text: string, width: number, ellipsis = '…'): string {
  const clean = printable(text);
  if (width <= 0) return '';
  if (cellWidth(clean) <= width) return clean;
  const room = width - cellWidth(ellipsis);
  let taken = '';
  let used = 0;
  for (const grapheme of graphemes(clean)) {
    const next = cellWidth(grapheme);
    if (used + next > room) break;
    taken += grapheme;
    used += next;
  }
  return room < 0 ? '' : taken + ellipsis;
}

/** Shortens the text in its middle: long names mostly differ at their ends. */
export function cutMiddle(text: string, width: number, ellipsis = '…'): string {
  const clean = printable(text);
  if (cellWidth(clean) <= width) return clean;
  const room = width - cellWidth(ellipsis);
  const start = cut(clean, Math.ceil(room / 2), '');
  let end = '';
  for (const grapheme of graphemes(clean).toReversed()) {
    if (cellWidth(grapheme + end) > room - cellWidth(start)) break;
    end = grapheme + end;
  }
  return room < 0 ? '' : start + ellipsis + end;
}

/** The text, and a mark behind it that stays where the text is cut. */
export function cutBefore({ text, mark = '' }: { text: string; mark?: string }, width: number, ellipsis = '…'): string {
  return mark === '' ? cut(text, width, ellipsis) : cut(text, width - cellWidth(mark), ellipsis) + mark;
}

export function fitCells(text: string, width: number, options: FitOptions = {}): string {
  return fitCell({ text }, width, options);
}

export function fitCell(
  cell: { text: string; mark?: string },
  width: number,
  { align = 'left', ellipsis = '…' }: FitOptions = {},
): string {
  const shown = cutBefore(cell, width, ellipsis);
  const padding = ' '.repeat(Math.max(0, width - cellWidth(shown)));
  return align === 'right' ? padding + shown : shown + padding;
}

export interface FitOptions {
  align?: 'left' | 'right';
  ellipsis?: string;
}

/** User-perceived characters; an emoji of several code points is one. */
export function graphemes(text: string): string[] {
  if (isAscii(text)) return text.split('');
  // Created on use: it costs 10 ms, which a first frame in ASCII need not pay.
  return Array.from(new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text), ({ segment }) => segment);
}

/** Breaks text at spaces into lines; breaks longer words, but never `3.6 s`. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of printable(paragraph).split(BREAKS)) {
      const longer = line === '' ? word : `${line} ${word}`;
      if (cellWidth(longer) <= width) {
        line = longer;
        continue;
      }
      if (line !== '') lines.push(line);
      line = word;
      while (cellWidth(line) > width && width > 1) {
        const head = urlHead(line, width) ?? cut(line, width, '');
        lines.push(head);
        line = line.slice(head.length);
      }
    }
    lines.push(line);
  }
  return lines;
}

/** Spaces except between a number and its unit. */
const BREAKS = /(?<!\d) | (?!(?:ms|s|min|h|[kMGT]?B)\b)/;

/** A long URL, with its scheme or without, breaks before its host or its path rather than inside a name. */
function urlHead(word: string, width: number): string | undefined {
  return word.startsWith('//') || !/:\/\/|^[^\s/@]+@[^\s/]+\//.test(word)
    ? undefined
    : /^.*(?:@|[^/]\/(?!\/))/.exec(cut(word, width, ''))?.[0];
}
