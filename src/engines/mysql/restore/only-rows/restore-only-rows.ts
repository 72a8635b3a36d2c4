import { startStep } from '../../../../runtime/events.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { ReplaceResult, RestoreRun } from '../../../facets/restore.ts';
import { restoreProgress } from '../../../shared/bytes-progress.ts';
import { connectToServer } from '../../connection/connect.ts';
import { detailsOf } from '../../details.ts';
import { profile } from '../../profile.ts';
import { readDefinitionsFile } from '../rows/fill.ts';
import { dataOf, loadWholeTable } from '../rows/load-tables.ts';
import { counterOf } from '../stored-table.ts';
import { assertReplaceable } from './plan-only-rows.ts';
import { replaceRows } from './replace-rows.ts';

/** Replaces the rows of some tables of the present destination by those of the snapshot. */
export async function restoreOnlyRows(context: EngineContext, run: RestoreRun): Promise<ReplaceResult> {
  const { report } = context;
  const { manifest, plan, read, url, undo } = run;
  const details = detailsOf(manifest);
  const { definitions } = await readDefinitionsFile(manifest, read);
  const counters = new Map(definitions.tables.map(({ name, create }) => [name, counterOf(create)]));
  const amount = formatNumberOf(plan.tables.length, 'table');
  const restored = startStep(report, 'restore', `Replace the rows of ${amount} in one transaction`);
  const onBytes = restoreProgress(report, plan.tables, profile.rows.endBytes);
  const names = plan.tables.map((table) => dataOf({ details }, table).table);
  const localInfile = await prepared(context, { url, names });
  const loading = { ...run, details, definitions: definitions.tables, localInfile };
  const result = await replaceRows(context, {
    ...{ url, undo, schema: details.database },
    tables: plan.tables.map((table) => {
      const data = dataOf({ details }, table);
      return {
        ...{ name: table.name, table: data.table, columns: data.columns },
        counter: counters.get(data.table) ?? '1',
        fill: (session) => loadWholeTable(session, { loading, table, onBytes }),
      };
    }),
  });
  restored(`Replaced and verified the rows of ${amount}`);
  return result;
}

async function prepared(context: EngineContext, { url, names }: { url: RestoreRun['url']; names: string[] }) {
  await using session = await connectToServer(context, url);
  await assertReplaceable(session, { url, names });
  const [server] = await session.query<{ allowed: number }>('SELECT @@local_infile AS allowed');
  return server?.allowed === 1;
}
