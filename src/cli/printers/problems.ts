import { placeOf } from '../../config/problems/invalid-configuration.ts';
import { settingsSchema } from '../../config/schema/settings.ts';
import { type Shape, shapeOf } from '../../config/schema/shape.ts';
import { hideSecrets, visibleValues } from '../../config/secrets/hide-secrets.ts';
import type { Problem } from '../../results/configuration/configuration-results.ts';
import { printable } from '../../text/printable.ts';
import { cellWidth } from '../../text/text-width.ts';
import type { Style } from './style.ts';

export interface ProblemsView {
  /** Text of the file, for excerpts. */
  text: string;
  style: Style;
}

/** A paragraph for each problem: the message, the place with an excerpt of it, the hint. */
export function problemsText(problems: Problem[], { text, style: { paint } }: ProblemsView): string[][] {
  const excerptOf = createExcerpts(text, shapeOf(settingsSchema));
  return problems.map((problem) => {
    const { severity, message, hint } = problem;
    const place = placeOf(problem);
    return [
      `${paint(severity === 'error' ? 'bad' : 'caution', `${severity}:`)} ${printable(message)}`,
      ...(place ? [`  at ${printable(place)}`] : []),
      ...excerptOf(problem).map((line) => paint('dim', line)),
      ...(hint ? [`  ${paint('accent', 'hint:')} ${printable(hint)}`] : []),
    ];
  });
}

const REACH = 60;

const LONGEST = 20_000;

export function createExcerpts(text: string, shape: Shape): (problem: Problem) => string[] {
  const lines = text.split(/\r?\n/);
  const visible = visibleValues(shape);
  return ({ line, column }) => {
    const written = line === null ? '' : (lines[line - 1] ?? '');
    // The parser locates a problem at a comment when nothing else is in the file.
    if (line === null || /^\s*(?:#|$)/.test(written) || written.length > LONGEST) return [];
    const hidden = hideSecrets(lines, { index: line - 1, offset: (column ?? 1) - 1, visible });
    const start = Math.max(0, hidden.offset - REACH);
    const shown = printable(hidden.text.slice(start, hidden.offset + REACH).replace(/\t/g, ' '), '·').toWellFormed();
    const indent = ' '.repeat(cellWidth(shown.slice(0, hidden.offset - start)));
    const number = String(line).padStart(4);
    return [`${number} | ${shown}`, `${' '.repeat(number.length)} | ${indent}^`];
  };
}
