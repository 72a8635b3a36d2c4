import { cellWidth } from '../cells.ts';
import type { Problem } from './configuration.ts';

/** How much of a long line is shown on either side of the place. */
const REACH = 60;

/** The line of a file that a problem is about, with a caret below the place; no line without a place. */
export function excerpt(text: string, { line, column }: Problem): string[] {
  const written = line === null ? undefined : text.split(/\r\n|\n|\r/, line)[line - 1];
  if (line === null || written === undefined || written === '') return [];
  const hidden = hideSecrets(written, (column ?? 1) - 1);
  const start = Math.max(0, hidden.offset - REACH);
  const shown = printable(hidden.text.slice(start, hidden.offset + REACH));
  const indent = ' '.repeat(cellWidth(shown.slice(0, hidden.offset - start)));
  const number = String(line).padStart(4);
  return [`${number} | ${shown}`, `${' '.repeat(number.length)} | ${indent}^`];
}

const HIDDEN = '***';

/** Where a line may hold a secret; group `secret` is hidden, except for the templates in it. */
const SECRETS: RegExp[] = [
  /(?:key|token|secret|pass\w*|pwd)["']?\s*[:=]\s*(?<secret>.+)$/dgi,
  // A password may hold an @ itself, so it ends at the last one of its word.
  /:\/\/[^\s/:@]*:(?<secret>(?:\{\{.*?\}\}|\S)*)@/dg,
  /\$aes\$(?<secret>[0-9a-f]+)/dgi,
];

const TEMPLATE = /\{\{.*?\}\}/g;

/** The line without secrets, and where in it the offset has moved to. */
function hideSecrets(line: string, offset: number): { text: string; offset: number } {
  let text = '';
  let moved = offset;
  let position = 0;
  for (const [start, end] of secretRanges(line)) {
    if (end <= position) continue;
    const from = Math.max(start, position);
    text += line.slice(position, from);
    if (offset >= from) moved = offset < end ? text.length : text.length + HIDDEN.length + offset - end;
    text += HIDDEN;
    position = end;
  }
  return { text: text + line.slice(position), offset: moved };
}

function secretRanges(line: string): [number, number][] {
  const ranges = SECRETS.flatMap((pattern) => Array.from(line.matchAll(pattern))).flatMap((match) => {
    const [from = 0, to = 0] = match.indices?.groups?.secret ?? [];
    return withoutTemplates(line, from, to);
  });
  return ranges.sort(([a], [b]) => a - b);
}

function withoutTemplates(line: string, from: number, to: number): [number, number][] {
  const ranges: [number, number][] = [];
  let position = from;
  for (const template of line.slice(from, to).matchAll(TEMPLATE)) {
    ranges.push([position, from + template.index]);
    position = from + template.index + template[0].length;
  }
  return [...ranges, [position, to] as [number, number]].filter(([start, end]) => end > start);
}

/** A file is not to move the cursor of who reads about it. */
function printable(text: string): string {
  return text.replace(/\t/g, ' ').replace(/\p{Cc}/gu, '·');
}
