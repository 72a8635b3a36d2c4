import type { SubsetEngine } from '../../subset.ts';
import { explained } from '../connection/explained.ts';
import { quoteName } from '../connection/session.ts';
import { inspectDestination } from '../restore/preflight.ts';
import { openSource } from './source.ts';

export const mysqlSubset: SubsetEngine = {
  async openSource(context, request) {
    const source = await explained(request.url, () => openSource(context, request));
    return { ...source, make: (running, run) => explained(run.url, () => source.make(running, run)) };
  },
  checkDestination: (context, url) => explained(url, async () => void (await inspectDestination(context, url))),
  createIndex(table, columns) {
    const name = table.slice(table.indexOf('.') + 1);
    return `CREATE INDEX ${quoteName(`${name}_${columns.join('_')}`)} ON ${quoteName(name)} (${columns.map(quoteName).join(', ')});`;
  },
};
