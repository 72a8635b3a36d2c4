import { cellWidth, graphemes } from '../../text/text-width.ts';

/** A text around the part in which it differs from another. */
export interface ChangedPart {
  before: string;
  changed: string;
  after: string;
}

/** Splits two texts at what they have in common at both ends. */
export function changedParts(old: string, now: string): [ChangedPart, ChangedPart] {
  const [one, other] = [graphemes(old), graphemes(now)];
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  return [partsOf(one, start, end), partsOf(other, start, end)];
}

function partsOf(texts: string[], start: number, end: number): ChangedPart {
  const until = texts.length - end;
  return {
    before: texts.slice(0, start).join(''),
    changed: texts.slice(start, until).join(''),
    after: texts.slice(until).join(''),
  };
}

/** Cuts the beginning where the changed part would be out of view. */
export function aroundChange(part: ChangedPart, width: number, ellipsis: string): ChangedPart {
  const { before, changed, after } = part;
  const rest = cellWidth(changed) + cellWidth(after);
  const used = cellWidth(before);
  if (used + rest <= width || used <= width / 2) return part;
  const kept = Math.max(Math.floor(width / 4), width - rest - cellWidth(ellipsis));
  const texts = graphemes(before);
  let tail = '';
  while (texts.length > 0 && cellWidth(texts.at(-1) + tail) <= kept) tail = texts.pop() + tail;
  return { before: ellipsis + tail, changed, after };
}

/** `[x]luisg@example.com`; plain where all of it changed, or nothing is left of the part. */
export function bracketed({ before, changed, after }: ChangedPart): string {
  return changed === '' || before + after === '' ? before + changed + after : `${before}[${changed}]${after}`;
}
