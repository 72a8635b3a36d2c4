import * as v from 'valibot';
import type { EngineContext } from '../../engine-context.ts';
import type { Traces } from '../../facets/sanitize.ts';
import { withTracesStep } from '../../shared/sanitize/steps.ts';
import { connect } from '../connection/connect.ts';
import { quotePath } from '../connection/quote.ts';
import { archiveDetailsSchema } from '../dump/archive.ts';
import { withoutEventTriggers } from '../restore/event-triggers.ts';

/**
 * Remnants of an UPDATE: dead rows in the table's file, frequent values in statistics, materialized views. Tables are
 * rewritten, views refreshed.
 */
export async function removeTraces(context: EngineContext, { url, dump, changed }: Traces): Promise<void> {
  await withTracesStep(context, async () => {
    await using session = await connect(context, url, { settings: { statement_timeout: '0', row_security: 'off' } });
    const { data } = v.parse(archiveDetailsSchema, dump.details);
    for (const { name, file } of dump.tables) {
      const table = data[file.name];
      if (!table || !changed.includes(name)) continue;
      await session.execute(`VACUUM (FULL, ANALYZE) ${quotePath(table.schema, table.table)}`);
    }
    // After a restore, oids follow the order of dependencies.
    const views = await session.query<{ schema: string; name: string }>(`
      SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind = 'm' AND c.relispopulated ORDER BY c.oid`);
    await withoutEventTriggers(session, async () => {
      for (const { schema, name } of views) {
        await session.execute(`REFRESH MATERIALIZED VIEW ${quotePath(schema, name)}`);
      }
    });
  });
}
