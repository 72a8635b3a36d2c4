import * as v from 'valibot';
import type { EngineContext } from '../../engine-context.ts';
import type { Traces } from '../../facets/sanitize.ts';
import { withTracesStep } from '../../shared/sanitize/steps.ts';
import { isVersioned, readTableList } from '../catalog/tables.ts';
import { connect } from '../connection/connect.ts';
import { quoteName } from '../connection/quote.ts';
import { detailsSchema } from '../details.ts';

/**
 * Remnants of an UPDATE: old rows in the table's file, and in the history of system-versioned tables. The tables are
 * rebuilt.
 */
export async function removeTraces(context: EngineContext, { url, dump, changed }: Traces): Promise<void> {
  await withTracesStep(context, async () => {
    await using session = await connect(context, url);
    const tables = await readTableList(session, url.database ?? '');
    const versioned = new Set(tables.filter(isVersioned).map(({ name }) => name));
    const { data } = v.parse(detailsSchema, dump.details);
    for (const { name, file } of dump.tables) {
      const table = data[file.name]?.table;
      if (table === undefined || !changed.includes(name)) continue;
      if (versioned.has(table)) await session.execute(`DELETE HISTORY FROM ${quoteName(table)}`);
      await session.execute(`ALTER TABLE ${quoteName(table)} FORCE`);
    }
  });
}
