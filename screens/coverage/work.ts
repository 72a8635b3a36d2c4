import type { PlannedSanitize } from '../../src/operations/sanitize/sanitize.ts';
import type { SanitizeResult } from '../../src/results/sanitize-results.ts';
import type { RunSummary, Work } from '../../src/state/runs.ts';
import { formatDuration, formatNumberOf } from '../../src/text/format.ts';
import type { Model } from '../app/model.ts';
import { refreshAfterWork } from '../app/refresh.ts';
import { replacedDatabase } from '../run/rivals.ts';

export function sanitizeWork(model: Model, planned: PlannedSanitize): Work {
  const { target, snapshot, query, destination } = planned.plan;
  return {
    title: snapshot ? `Sanitize snapshot ${snapshot.index} of ${target}` : `Build and sanitize a snapshot of ${target}`,
    target,
    kind: snapshot ? 'sanitize' : 'build',
    replaces: destination && replacedDatabase(destination),
    perform: async (session) => {
      const result = await model.operations.applySanitize(session, planned);
      await refreshAfterWork(model, target);
      return (duration) => receiptOf(result, { target, queryFile: query.file, duration });
    },
  };
}

function receiptOf(
  { original, coverage }: SanitizeResult,
  { target, queryFile, duration }: { target: string; queryFile: string | null; duration: number },
): RunSummary {
  const { length } = coverage.findings;
  const left = length === 0 ? 'nothing personal is as it was' : `${formatNumberOf(length, 'finding')} left`;
  return {
    line: `Sanitized snapshot ${original.index} of ${target}: ${left} (${formatDuration(duration)})`,
    problems: [],
    undoable: false,
    sanitized: { original, coverage, queryFile },
  };
}
