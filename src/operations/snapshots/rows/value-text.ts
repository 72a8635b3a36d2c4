import type { GridColumn } from '../../../presentation/shapes/grid.ts';
import { formatBytes } from '../../../text/format.ts';
import { escaped } from '../../../text/printable.ts';
import { cellWidth } from '../../../text/text-width.ts';

/** A value as the screens show it: one line, with control characters escaped. */
export interface ShownValue {
  text: string;
  isMasked: boolean;
  /** It is a text of its own; `false` for NULL and an empty one. */
  isText: boolean;
}

export interface ValueOptions {
  isMasked?: boolean | undefined;
  /** Whole length of a value that is cut. */
  bytes?: number | undefined;
}

export function shownValue(
  value: string | null | undefined,
  { isMasked = false, bytes }: ValueOptions = {},
): ShownValue {
  if (value === null || value === undefined) return { text: 'NULL', isMasked: false, isText: false };
  if (value === '') return { text: "''", isMasked, isText: false };
  // The word NULL as a value.
  const text = value === 'NULL' ? "'NULL'" : escaped(value);
  return { text: bytes === undefined ? text : `${text}… (${formatBytes(bytes)})`, isMasked, isText: true };
}

const NUMBER = /^-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|NaN|Infinity)$/i;
/** Wider values are cut in every window. */
const MOST_CELLS = 200;

/** A column as wide as its values; numbers are aligned at the right. */
export function gridColumn(name: string, values: (ShownValue | undefined)[]): GridColumn {
  const title = escaped(name);
  let width = cellWidth(title);
  let numbers = 0;
  let texts = 0;
  for (const value of values) {
    if (!value) continue;
    width = Math.max(width, widthOf(value.text));
    if (!value.isText) continue;
    texts += 1;
    if (!value.isMasked && NUMBER.test(value.text)) numbers += 1;
  }
  return { name: title, width: Math.min(width, MOST_CELLS), align: texts > 0 && numbers === texts ? 'right' : 'left' };
}

function widthOf(text: string): number {
  return text.length > MOST_CELLS ? MOST_CELLS : cellWidth(text);
}
