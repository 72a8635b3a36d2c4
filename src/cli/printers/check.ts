import { type CheckRow, checkSum, needRows } from '../../operations/configuration/check/check-text.ts';
import type { CheckReport } from '../../results/configuration/configuration-results.ts';
import { printable } from '../../text/printable.ts';
import { cellWidth } from '../../text/text-width.ts';
import { type ProblemsView, problemsText } from './problems.ts';
import type { Style } from './style.ts';

/** Every problem with its excerpt, then what the configuration needs to work, then the sum. */
export function checkText(report: CheckReport, { text, style }: ProblemsView): string {
  const groups = Map.groupBy(needRows(report), ({ group }) => group);
  const sum = checkSum(report);
  return [
    ...problemsText(report.problems, { text, style }),
    ...[...groups].map(([group, rows]) => [group, ...needLines(rows, style)]),
    ...(sum.length > 0 ? [sum] : []),
  ]
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function needLines(rows: CheckRow[], { paint, glyphs }: Style): string[] {
  const width = Math.max(...rows.map(({ subject }) => cellWidth(subject)));
  return rows.flatMap(({ group, state, subject, finding, more }) => {
    const name = subject === group.toLowerCase() ? '' : `${subject}${' '.repeat(width - cellWidth(subject))}  `;
    const mark = paint(state ?? 'dim', state === null ? glyphs.none : glyphs[state]);
    return [`  ${mark} ${printable(`${name}${finding}`)}`, ...more.map((line) => printable(`      ${line}`))];
  });
}
