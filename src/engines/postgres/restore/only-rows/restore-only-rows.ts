import { bytesOfTable, filesOfTable } from '../../../../repository/manifest/manifest.ts';
import { startStep } from '../../../../runtime/events.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import { splitName } from '../../../../text/table-names.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { ReplaceResult, RestoreRun } from '../../../facets/restore.ts';
import { findClientTools, toolsForArchive } from '../../connection/tools.ts';
import { encodingSettings } from '../../connection/url.ts';
import { archiveDetails } from '../../dump/archive.ts';
import { dataOf } from '../rows/copy-commands.ts';
import { feedFile } from '../rows/feed-tables.ts';
import { countedRows } from '../rows/rows-by-root.ts';
import { keepAndReplace } from './keep-and-replace.ts';

/** Replaces the rows of some tables of the present destination by those of the snapshot. */
export async function restoreOnlyRows(context: EngineContext, run: RestoreRun): Promise<ReplaceResult> {
  const { report } = context;
  const { url, plan, manifest, directory, undo } = run;
  const details = archiveDetails(manifest);
  const tools = toolsForArchive(await findClientTools(context), manifest.tool_version);
  const amount = formatNumberOf(plan.tables.length, 'table');
  const restored = startStep(report, 'restore', `Replace the rows of ${amount} in one transaction`);
  const total = plan.tables.reduce((sum, table) => sum + bytesOfTable(table), 0);
  let done = 0;
  const onBytes = (current: string, bytes: number): void => {
    done += bytes;
    report({ event: 'progress', step: 'restore', done, total, unit: 'bytes', current });
  };
  const result = await keepAndReplace(context, {
    ...{ url, tools, directory, undo, settings: encodingSettings(details.locale) },
    maySwap: plan.onlyRows?.keeps ?? false,
    allowsCode: plan.onlyRows?.allowsCode ?? false,
    tables: plan.tables.map((table) => {
      const { schema, table: name, columns, root } = dataOf(table, details);
      return { name: table.name, schema, table: name, columns, root, rows: table.rows };
    }),
    counts: countedRows({ tables: plan.tables, empty: [] }, details),
    sequences: details.inventory.sequences.map(({ name, last_value }) => {
      const { schema, rest } = splitName(name);
      return { schema, name: rest, last_value: last_value === null ? null : BigInt(last_value).toString() };
    }),
    async feed(index, write) {
      const table = plan.tables[index];
      if (!table) throw new Error('there is no such table');
      for (const file of filesOfTable(table)) await feedFile({ read: run.read, table, file, onBytes, write });
    },
  });
  restored(`Replaced and verified the rows of ${amount}`);
  return result;
}
