import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { parsePostgresUrl } from '../../../src/engines/postgres/connection/url.ts';
import { openReaders } from '../../../src/engines/postgres/dump/unchanged/readers.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { diff } from '../../../src/operations/snapshots/diff/diff.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const FILL = `
  CREATE TABLE a (id integer PRIMARY KEY); INSERT INTO a SELECT generate_series(1, 10);
  CREATE TABLE z (id integer PRIMARY KEY); INSERT INTO z SELECT generate_series(1, 10);
  CREATE SEQUENCE counter; SELECT setval('counter', 42);
  CREATE FUNCTION caught(text) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'it ran as %', current_user; END $$;
  CREATE VIEW shown AS SELECT 1 AS id WHERE caught('shown');`;

describeWithPostgres('a view that its owner puts in place of a relation while it is read', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let context: Context;

  beforeAll(async () => {
    await server.psql('postgres', { sql: `CREATE ROLE guest LOGIN PASSWORD 'guest'` });
    await server.createDatabase('theirs', 'guest');
    await server.psql('theirs', { sql: `SET ROLE guest; ${FILL}` });
    const snapshot = { src_url: server.url('theirs'), dst_url: server.url('copy'), role: 'guest' };
    const subset = {
      ...{ src_url: server.url('theirs'), dst_url: server.url('small') },
      subset_tables: [{ table: 'public.a', where: 'id IN (SELECT id FROM public.shown)' }],
    };
    const settings = { working_directory: join(folder.path, 'work'), targets: { app: { snapshot, subset } } };
    context = testContext({ settings });
    await build(context, { target: 'app' });
    await applyLoad(context, await planLoad(context, { target: 'app', keepBase: true }));
  }, 60_000);

  it('runs nothing with the rights of the superuser that compares the destination', async () => {
    const url = new URL(server.url('copy'));
    Object.assign(url, { username: 'guest', password: 'guest' });
    const [holder, other] = [new pg.Client(url.href), new pg.Client(url.href)];
    await Promise.all([holder.connect(), other.connect()]);
    try {
      await holder.query('BEGIN; LOCK TABLE a IN ACCESS EXCLUSIVE MODE');
      const ended = diff(context, { target: 'app', a: 0 });
      ended.catch(() => {});
      const waits = 'SELECT FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()';
      await expect.poll(async () => (await other.query(waits)).rowCount, { timeout: 10_000 }).toBeGreaterThan(0);
      await other.query(`ALTER TABLE z RENAME TO former; CREATE VIEW z AS SELECT 1 AS id WHERE caught('z')`);
      await holder.query('COMMIT');
      await expect(ended).rejects.toMatchObject({
        cause: { message: expect.stringContaining('access to non-system view "z" is restricted') },
      });
    } finally {
      await Promise.all([holder.end(), other.end()]);
    }
  });

  it('is refused in a condition of a subset', async () => {
    const planning = planSubset(context, { target: 'app', count: true });
    await expect(planning.then((planned) => applySubset(context, planned))).rejects.toMatchObject({
      message: expect.stringContaining('access to non-system view "shown" is restricted'),
    });
  });

  it('is refused by the sessions that compare a database with its base copy and reset it', async () => {
    await using readers = await openReaders(context, { url: parsePostgresUrl(server.url('copy')), settings: {} });
    await readers.session.execute('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    for (const session of await readers.share(Number.MAX_SAFE_INTEGER)) {
      await expect(session.query('SELECT * FROM public.shown')).rejects.toThrow('access to non-system view');
    }
  });
});
