import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { build } from '../../../src/operations/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applySanitize, planSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import type { RunEvent } from '../../../src/runtime/events.ts';
import { withDetails } from '../../helpers/build-and-load.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres-server.ts';

/** Debian has it in a package of the server's. */
const FDW = '/usr/share/postgresql/15/extension/postgres_fdw.control';

describeWithPostgres(
  'foreign tables',
  () => {
    let server: TestPostgres;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let events: RunEvent[] = [];

    const contextOf = (target: Settings['targets'][string]) =>
      testContext({ settings: { working_directory: join(folder.path, 'work'), targets: { app: target } }, events });
    const snapshot = () => ({ src_url: server.url('app'), dst_url: server.url('app_dev') });
    const emails = () => server.psql('elsewhere', { sql: 'SELECT email FROM customer ORDER BY id' });
    const sanitized = (override_query: string) => {
      const context = contextOf({
        snapshot: snapshot(),
        sanitize: { dst_url: server.url('app_safe'), override_query },
      });
      return planSanitize(context, { target: 'app' }).then((planned) => withDetails(applySanitize(context, planned)));
    };

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startPostgres();
      await server.psql('postgres', { sql: 'CREATE DATABASE elsewhere' });
      await server.psql('postgres', { sql: 'CREATE DATABASE app' });
      await server.psql('elsewhere', {
        sql: "CREATE TABLE customer (id integer PRIMARY KEY, email text); INSERT INTO customer VALUES (1, 'ada@example.com'), (2, 'bob@example.com')",
      });
      const { hostname, port, username, password } = new URL(server.url('elsewhere'));
      await server.psql('app', {
        sql: `CREATE EXTENSION postgres_fdw;
          CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '${hostname}', port '${port}', dbname 'elsewhere');
          CREATE USER MAPPING FOR PUBLIC SERVER far OPTIONS (user '${username}', password '${password}');
          CREATE FOREIGN TABLE customer (id integer, email text) SERVER far;
          CREATE TABLE person (id integer PRIMARY KEY, email text);
          INSERT INTO person VALUES (1, 'eve@example.com'), (2, 'kim@example.com')`,
      });
    }, 120_000);

    beforeEach(() => {
      events = [];
    });

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it('are in a snapshot as definitions, which build and plan state, and a load changes no row behind them', async () => {
      const context = contextOf({ snapshot: snapshot() });
      const row = await build(context, { target: 'app' });
      expect(row).toMatchObject({
        rows: 2,
        definitions_only: [{ table: 'public.customer', engine: 'postgres_fdw', remote: true }],
      });
      const stated = { code: 'definitions_only', message: expect.stringContaining('public.customer (postgres_fdw)') };
      expect(events).toContainEqual({ event: 'warning', ...stated });
      const planned = await planLoad(context, { target: 'app' });
      expect(planned.plan.warnings).toContainEqual(stated);
      expect((await withDetails(applyLoad(context, planned))).rows).toBe(2);
      expect(await server.psql('app_dev', { sql: 'SELECT count(*) FROM customer' })).toBe('2\n');
      expect(await emails()).toBe('ada@example.com\nbob@example.com\n');
    });

    it('cannot be changed by a sanitization query', async () => {
      await expect(sanitized("UPDATE person SET email = ''; UPDATE customer SET email = ''")).rejects.toThrow(
        /user mapping not found/,
      );
      expect(await emails()).toBe('ada@example.com\nbob@example.com\n');
      const { coverage, snapshot: row } = await sanitized("UPDATE person SET email = id || '@example.invalid'");
      expect(row.rows).toBe(2);
      expect(JSON.stringify(coverage)).not.toContain('customer');
      expect(await server.psql('app_safe', { sql: 'SELECT count(*) FROM pg_user_mappings' })).toBe('0\n');
      expect(await emails()).toBe('ada@example.com\nbob@example.com\n');
    });

    it('are neither read nor written by a subset', async () => {
      const context = contextOf({
        subset: {
          src_url: server.url('app'),
          dst_url: server.url('app_small'),
          subset_tables: [{ table: 'public.person', where: 'id = 1' }],
        },
      });
      const { rows } = await withDetails(applySubset(context, await planSubset(context, { target: 'app' })));
      expect(rows).toBe(1);
      expect(await emails()).toBe('ada@example.com\nbob@example.com\n');
    });
  },
  { files: FDW },
);
