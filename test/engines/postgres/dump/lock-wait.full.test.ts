import { join } from 'node:path';
import pg from 'pg';
import { expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import type { Runner } from '../../../../src/process/runner.ts';
import {
  describeWithPostgres,
  eventually,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';

describeWithPostgres('a build beside a session that changes a table', () => {
  it('ends, and lets it go on: pg_dump does not wait for who waits for the build', async () => {
    await using folder = await temporaryFolder();
    const server = await startPostgres();
    const other = new pg.Client({ connectionString: server.url('source') });
    try {
      await server.createDatabase('source');
      await server.psql('source', { sql: 'CREATE TABLE orders AS SELECT i AS id FROM generate_series(1, 100) i' });
      await other.connect();
      let changed: Promise<unknown> = Promise.resolve();
      const locks = async (mode: string, granted: boolean): Promise<boolean> =>
        (
          await server.psql('source', {
            sql: `SELECT 1 FROM pg_locks WHERE relation = 'orders'::regclass AND mode = '${mode}' AND granted = ${granted}`,
          })
        ).trim() !== '';
      const context = testContext({
        settings: {
          working_directory: join(folder.path, 'work'),
          targets: { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } } },
        },
      });
      // Between the lock of the build's own session and that of pg_dump.
      const run: Runner['run'] = async (command, options) => {
        if (command.file.endsWith('/pg_dump') && command.args.some((arg) => arg.startsWith('--snapshot='))) {
          await eventually(() => locks('AccessShareLock', true));
          changed = other.query('ALTER TABLE orders ADD COLUMN note text');
          await eventually(() => locks('AccessExclusiveLock', false));
        }
        return context.runner.run(command, options);
      };
      const building = build({ ...context, runner: { ...context.runner, run } }, { target: 'app' });
      await expect(building).rejects.toMatchObject({
        code: 'dump_failed',
        hint: 'Nothing was stored. Another session was changing a table. Build again when it has ended.',
      });
      await changed;
      const row = await build(context, { target: 'app' });
      expect(row).toMatchObject({ tables: 1, rows: 100 });
    } finally {
      await other.end();
      await server.stop();
    }
  }, 60_000);
});
