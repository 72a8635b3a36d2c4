import { printable } from '../../text/printable.ts';
import { cellWidth } from '../../text/text-width.ts';
import type { Problem } from '../configuration.ts';
import type { Shape } from '../schema/shape.ts';
import { hideSecrets, visibleValues } from '../secrets/hide-secrets.ts';

/** How much of a long line is shown on either side of the place. */
const REACH = 60;

/** Nobody has written a longer line, and nobody looks for the place in one. */
const LONGEST = 20_000;

/** Shows of a file the line that a problem is about, with a caret below the place; no line without a place. */
export function createExcerpts(text: string, shape: Shape): (problem: Problem) => string[] {
  const lines = text.split(/\r?\n/);
  const visible = visibleValues(shape);
  return ({ line, column }) => {
    const written = line === null ? '' : (lines[line - 1] ?? '');
    // A comment is shown for want of anything else in the file.
    if (line === null || /^\s*(?:#|$)/.test(written) || written.length > LONGEST) return [];
    const hidden = hideSecrets(lines, { index: line - 1, offset: (column ?? 1) - 1, visible });
    const start = Math.max(0, hidden.offset - REACH);
    const shown = printable(hidden.text.slice(start, hidden.offset + REACH).replace(/\t/g, ' '), '·').toWellFormed();
    const indent = ' '.repeat(cellWidth(shown.slice(0, hidden.offset - start)));
    const number = String(line).padStart(4);
    return [`${number} | ${shown}`, `${' '.repeat(number.length)} | ${indent}^`];
  };
}
