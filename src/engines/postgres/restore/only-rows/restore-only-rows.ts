import { filesOfTable } from '../../../../repository/manifest/manifest.ts';
import { startStep } from '../../../../runtime/events.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import { splitName } from '../../../../text/table-names.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { ReplaceResult, RestoreRun } from '../../../facets/restore.ts';
import { restoreProgress } from '../../../shared/bytes-progress.ts';
import { findClientTools, toolsForArchive } from '../../connection/tools.ts';
import { encodingSettings } from '../../connection/url.ts';
import { type ArchiveDetails, archiveDetails } from '../../dump/archive.ts';
import { profile } from '../../profile.ts';
import { dataOf } from '../rows/copy-commands.ts';
import { feedFile } from '../rows/feed-tables.ts';
import { countedRows } from '../rows/rows-by-root.ts';
import { keepAndReplace } from './keep-and-replace.ts';
import { keyCondition, readKeyedRows } from './row-keys.ts';

/** Replaces the rows of some tables of the present destination by those of the snapshot. */
export async function restoreOnlyRows(context: EngineContext, run: RestoreRun): Promise<ReplaceResult> {
  const { report } = context;
  const { url, plan, manifest, directory, undo } = run;
  const details = archiveDetails(manifest);
  const tools = toolsForArchive(await findClientTools(context), manifest.tool_version);
  const amount = formatNumberOf(plan.tables.length, 'table');
  const restored = startStep(report, 'restore', `Replace the rows of ${amount} in one transaction`);
  const onBytes = restoreProgress(report, plan.tables, profile.rows.endBytes);
  const keyed = await keyedRows(run, details);
  const result = await keepAndReplace(context, {
    ...{ url, tools, directory, undo, settings: encodingSettings(details.locale) },
    maySwap: plan.onlyRows?.keeps ?? false,
    allowsCode: plan.onlyRows?.allowsCode ?? false,
    tables: plan.tables.map((table) => {
      const { schema, table: name, columns, root } = dataOf(table, details);
      return { name: table.name, schema, table: name, columns, root, rows: table.rows, only: keyed?.only };
    }),
    counts: countedRows({ tables: plan.tables, empty: [] }, details).map((counted) => ({
      ...counted,
      ...(keyed && { count: `${counted.count} WHERE ${keyed.only}`, rows: keyed.lines.length }),
    })),
    // They are of the whole table.
    sequences: (keyed ? [] : details.inventory.sequences).map(({ name, last_value }) => {
      const { schema, rest } = splitName(name);
      return { schema, name: rest, last_value: last_value === null ? null : BigInt(last_value).toString() };
    }),
    async feed(index, write) {
      const table = plan.tables[index];
      if (!table) throw new Error('there is no such table');
      if (keyed) return write(Buffer.from(keyed.lines.map((line) => `${line}\n`).join(''), 'latin1'));
      for (const file of filesOfTable(table)) await feedFile({ read: run.read, table, file, onBytes, write });
    },
  });
  restored(`Replaced and verified the rows of ${amount}`);
  return result;
}

async function keyedRows({ plan, read }: RestoreRun, details: ArchiveDetails) {
  const [table] = plan.tables;
  const keys = plan.onlyRows?.keys;
  if (!keys || !table) return null;
  const lines = await readKeyedRows({ read, table, columns: dataOf(table, details).columns, keys });
  return { only: keyCondition(keys), lines };
}
