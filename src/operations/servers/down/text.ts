import type { Question } from '../../../presentation/shapes/question.ts';
import { summaryOf } from '../../../presentation/shapes/summary.ts';
import type { DownPlan, DownResult } from '../../../results/server-results.ts';
import type { RunSummary } from '../../../state/runs.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { printable } from '../../../text/printable.ts';

export function downQuestion({ servers, steps }: DownPlan): Question {
  const all = formatNumberOf(servers.length, 'server');
  return {
    title: `Stop ${all}`,
    facts: servers.map(({ port, target, snapshot }) => ({
      name: `Port ${port}`,
      value: `${printable(target)}, snapshot ${snapshot}`,
    })),
    steps,
    warnings: [],
    consequence: 'Changes in their databases are lost. This cannot be undone.',
    ask: `Stop ${all}?`,
    go: 'Stop',
    typed: null,
  };
}

export function downSummary({ stopped }: DownResult): RunSummary {
  return summaryOf(`Stopped ${formatNumberOf(stopped.length, 'server')}`);
}
