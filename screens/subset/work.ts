import type { PlannedSubset } from '../../src/operations/subset/subset.ts';
import type { Work } from '../../src/state/runs.ts';
import { formatCount, formatDuration, formatNumberOf } from '../../src/text/format.ts';
import type { Model } from '../app/model.ts';
import { refreshAfterWork } from '../app/refresh.ts';
import { replacedDatabase } from '../run/rivals.ts';

export function subsetWork(model: Model, planned: PlannedSubset): Work {
  const { target, destination } = planned.plan;
  return {
    title: `Make a subset of ${target} in ${destination.database}`,
    target,
    kind: 'subset',
    replaces: replacedDatabase(destination),
    perform: async (session) => {
      const { tables, rows, proof } = await model.operations.applySubset(session, planned);
      await refreshAfterWork(model, target);
      const filled = tables.filter((table) => table.rows > 0).length;
      return (duration) => ({
        line:
          `Made the subset in ${destination.url}: ${formatCount(rows)} rows of ${formatNumberOf(filled, 'table')}, ` +
          `${formatNumberOf(proof.length, 'reference')} proved (${formatDuration(duration)})`,
        problems: [],
        undoable: false,
      });
    },
  };
}
