import type { Problem } from '../config/configuration.ts';
import type { CheckReport } from '../operations/configuration/check.ts';
import { needsText } from './needs.ts';
import { type ProblemsView, problemsText } from './problems.ts';

/** Every problem with its excerpt, then what the configuration needs to work, then the sum. */
export function checkText(report: CheckReport, { text, style }: ProblemsView): string {
  const { file, shadowed, mode, problems } = report;
  const sum = `${countText(problems)} in ${file ?? 'the variables'}, ${mode} mode`;
  const isConfigured = problems.every(({ code }) => code !== 'no_configuration');
  return [
    ...problemsText(problems, { text, style }),
    ...needsText(report, style),
    // There is nothing to count in where nothing is configured.
    ...(isConfigured ? [[sum, ...shadowLines(shadowed)]] : []),
  ]
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** Two files are there, and one of them is the one that is read. */
export function shadowLines(shadowed: string | null): string[] {
  return shadowed === null ? [] : [`Not read, since there is a tool.yml in this folder: ${shadowed}`];
}

function countText(problems: Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const counts = [counted(errors, 'error'), counted(warnings, 'warning')].filter((text) => text !== '');
  return counts.length === 0 ? 'No problems' : counts.join(', ');
}

function counted(count: number, noun: string): string {
  if (count === 0) return '';
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
