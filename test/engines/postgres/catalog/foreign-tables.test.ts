import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import type { Settings } from '../../../../src/config/schema/settings.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../../src/operations/load/planned-load.ts';
import { applySanitize, planSanitize } from '../../../../src/operations/sanitize/sanitize.ts';
import { applySubset, planSubset } from '../../../../src/operations/subset/subset.ts';
import type { RunEvent } from '../../../../src/results/events.ts';
import { normalized, withDetails } from '../../../helpers/databases/build-and-load.ts';
import {
  describeWithPostgres,
  eventually,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

/** Debian has it in a package of the server's. */
const FDW = '/usr/share/postgresql/15/extension/postgres_fdw.control';

/** Without a primary key, with columns in another order, and with a partition elsewhere. */
const SHARE = `CREATE TABLE share (person integer, part integer GENERATED ALWAYS AS (person * 2) STORED) PARTITION BY LIST (person);
  CREATE TABLE share_own (part integer GENERATED ALWAYS AS (person * 2) STORED, person integer);
  ALTER TABLE share ATTACH PARTITION share_own FOR VALUES IN (1, 2);
  CREATE FOREIGN TABLE share_far PARTITION OF share FOR VALUES IN (3) SERVER far OPTIONS (table_name 'nobody');
  INSERT INTO share VALUES (1), (2), (1), (1);`;

const DEPENDENTS = `
  CREATE VIEW emails AS SELECT email FROM customer;
  CREATE VIEW upper_emails AS SELECT upper(email) AS email FROM emails;
  CREATE MATERIALIZED VIEW stored_emails AS SELECT email FROM customer; CREATE INDEX stored_index ON stored_emails (email);
  CREATE VIEW people AS SELECT id AS customer FROM person;
  CREATE FUNCTION count_customers(lowest integer) RETURNS bigint BEGIN ATOMIC SELECT count(*) FROM customer WHERE id > lowest; END;
  CREATE FUNCTION email_of(customer) RETURNS text LANGUAGE sql AS 'SELECT $1.email';
  CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
  CREATE TRIGGER noted BEFORE UPDATE ON customer FOR EACH ROW EXECUTE FUNCTION noted();
  CREATE RULE hidden AS ON UPDATE TO person DO ALSO SELECT email FROM customer;
  CREATE STATISTICS related ON id, email FROM customer;
  CREATE FOREIGN TABLE "cust.omer x" (id integer CHECK (id > 0), email text) SERVER far OPTIONS (table_name 'customer');
  CREATE SEQUENCE numbers OWNED BY customer.id;
  CREATE FOREIGN TABLE heir () INHERITS (person) SERVER far OPTIONS (table_name 'nobody');
  CREATE TABLE sale (id integer) PARTITION BY RANGE (id);
  CREATE INDEX sale_id ON sale (id);
  CREATE TABLE sale_own PARTITION OF sale FOR VALUES FROM (1) TO (2); INSERT INTO sale VALUES (1);
  ${SHARE}
  CREATE FOREIGN TABLE sale_far PARTITION OF sale FOR VALUES FROM (2) TO (9) SERVER far OPTIONS (table_name 'sale');`;

const DIRECTLY = [
  ...['function public.count_customers(integer)', 'function public.email_of(public.customer)'],
  ...['materialized view public.stored_emails', 'rule public.person hidden', 'statistics public.related'],
  ...[
    'sequence public.numbers',
    'trigger public.customer noted',
    'view public.emails',
    'view public.upper_emails',
    'index public.stored_index',
  ],
].map((name) => `The ${name} needs the foreign table public.customer: it is not created`);
const LEFT_OUT = [
  ...DIRECTLY,
  ...['sale_far', 'share_far'].map(
    (name) =>
      `The partition public.${name} is a foreign table: it is not created, and its rows are not in the snapshot`,
  ),
].toSorted();

describeWithPostgres(
  'foreign tables',
  () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startPostgres());
    let events: RunEvent[] = [];

    const contextOf = (target: Settings['targets'][string]) =>
      testContext({ settings: { working_directory: join(folder.path, 'work'), targets: { app: target } }, events });
    const snapshot = () => ({ src_url: server.url('app'), dst_url: server.url('app_dev') });
    const warnings = () =>
      events.flatMap((event) => (event.event === 'warning' ? [`${event.code}: ${event.message}`] : []));
    const loaded = async (request: Partial<LoadRequest> = {}) => {
      const context = contextOf({ snapshot: snapshot() });
      const planned = await planLoad(context, { target: 'app', ...request });
      return { plan: planned.plan, result: await withDetails(applyLoad(context, planned)) };
    };
    const query = (database: string, sql: string) => server.psql(database, { sql });
    /** How often a client has logged in to the database behind the foreign tables; told when it logs out. */
    const logins = async () => {
      await eventually(
        async () => (await query('postgres', "SELECT FROM pg_stat_activity WHERE datname = 'elsewhere'")) === '',
      );
      return query('postgres', "SELECT sessions FROM pg_stat_database WHERE datname = 'elsewhere'");
    };
    const foreignObjects = (database: string) =>
      query(
        database,
        'SELECT (SELECT count(*) FROM pg_foreign_table), (SELECT count(*) FROM pg_foreign_server), (SELECT count(*) FROM pg_user_mapping)',
      );
    const emails = () => server.psql('elsewhere', { sql: 'SELECT email FROM customer ORDER BY id' });
    const sanitized = (override_query: string) => {
      const context = contextOf({
        snapshot: snapshot(),
        sanitize: { dst_url: server.url('app_safe'), override_query },
      });
      return planSanitize(context, { target: 'app' }).then((planned) => withDetails(applySanitize(context, planned)));
    };

    beforeAll(async () => {
      await server.psql('postgres', { sql: 'CREATE DATABASE elsewhere' });
      await server.psql('postgres', { sql: 'CREATE DATABASE app' });
      await server.psql('elsewhere', {
        sql: "CREATE TABLE customer (id integer PRIMARY KEY, email text); INSERT INTO customer VALUES (1, 'ada@example.com'), (2, 'bob@example.com'); CREATE TABLE sale AS SELECT id + 1 AS id FROM customer; CREATE TABLE nobody (id integer, email text)",
      });
      const { hostname, port, username, password } = new URL(server.url('elsewhere'));
      await server.psql('app', {
        sql: `CREATE EXTENSION postgres_fdw;
          CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '${hostname}', port '${port}', dbname 'elsewhere');
          CREATE USER MAPPING FOR PUBLIC SERVER far OPTIONS (user '${username}', password '${password}');
          CREATE FOREIGN TABLE customer (id integer CONSTRAINT positive CHECK (id > 0), email text DEFAULT 'none') SERVER far;
          COMMENT ON FOREIGN TABLE customer IS 'elsewhere';
          CREATE TABLE person (id integer PRIMARY KEY, email text);
          INSERT INTO person VALUES (1, 'eve@example.com'), (2, 'kim@example.com');
          ${DEPENDENTS}`,
      });
      await build(contextOf({ snapshot: snapshot() }), { target: 'app' });
      // What the server itself drops with a foreign server is what a load leaves out.
      await query('postgres', 'CREATE DATABASE oracle TEMPLATE app');
      await query('oracle', 'DROP SERVER far CASCADE');
    }, 120_000);

    beforeEach(() => {
      events = [];
    });

    it('are in a snapshot as definitions, which the build states', async () => {
      const row = await build(contextOf({ snapshot: snapshot() }), { target: 'app' });
      expect(row).toMatchObject({
        rows: 7,
        definitions_only: [
          { table: 'public."cust.omer x"', engine: 'postgres_fdw', remote: true },
          { table: 'public.customer', engine: 'postgres_fdw', remote: true },
          { table: 'public.heir', engine: 'postgres_fdw', remote: true },
          { table: 'public.sale_far', engine: 'postgres_fdw', remote: true },
          { table: 'public.share_far', engine: 'postgres_fdw', remote: true },
        ],
      });
      expect(warnings()).toContainEqual(
        expect.stringMatching(/^definitions_only: .*public\.customer \(postgres_fdw\).*; foreign servers far$/),
      );
    });

    const ways: [string, Partial<LoadRequest>][] = [
      ['into a new database', {}],
      ['in place', { inPlace: true }],
      ['of some tables', { tables: ['public.person'] }],
      ['with --keep-going', { keepGoing: 'inspect' }],
    ];
    it.each(ways)('a load %s creates none of them, and names their dependents', async (_way, request) => {
      await query('postgres', 'DROP DATABASE IF EXISTS app_dev');
      if (request.inPlace) await server.createDatabase('app_dev');
      const before = await logins();
      events = [];
      const { plan, result } = await loaded(request);
      expect(plan.warnings).toContainEqual({
        code: 'remote_tables_left_out',
        message: expect.stringMatching(
          /^Not created.*public\.customer \(postgres_fdw\).*servers far.*--remote-tables$/,
        ),
      });
      const named = warnings().filter((text) => text.startsWith('remote_tables_left_out: The '));
      expect(named.map((text) => text.slice('remote_tables_left_out: '.length)).toSorted()).toEqual(LEFT_OUT);
      expect(result).not.toHaveProperty('missing');
      expect(await foreignObjects('app_dev')).toBe('0|0|0\n');
      await expect(query('app_dev', 'SELECT count(*) FROM customer')).rejects.toThrow(/does not exist/);
      expect(await query('app_dev', 'SELECT count(*) FROM person')).toBe('2\n');
      expect(await query('app_dev', 'SELECT id FROM sale')).toBe(request.tables ? '' : '1\n');
      if (!request.tables) {
        expect(normalized(await server.dump('app_dev'))).toEqual(normalized(await server.dump('oracle')));
      }
      // Views of its own tables are there, and one that only has the name.
      expect(await query('app_dev', 'SELECT count(customer) FROM people')).toBe('2\n');
      expect(await logins()).toBe(before);
    });

    it.each([
      ['beside the destination', {}],
      ['in place', { inPlace: true }],
    ])('a load with --remote-tables %s creates them as pg_dump does', async (_way, request) => {
      const { plan } = await loaded({ ...request, remoteTables: true });
      expect(plan.warnings).toContainEqual({
        code: 'remote_tables_created',
        message: expect.stringContaining('public.customer (postgres_fdw)'),
      });
      expect(await query('app_dev', 'SELECT count(*) FROM upper_emails')).toBe('2\n');
      expect(await query('app_dev', 'SELECT count(*) FROM sale')).toBe('3\n');
      expect(normalized(await server.dump('app_dev'))).toEqual(normalized(await server.dump('app')));
      expect(await emails()).toBe('ada@example.com\nbob@example.com\n');
    });

    it('a table that is nothing without one is refused, and created with --remote-tables', async () => {
      await server.createDatabase('heirs');
      const { hostname, port } = new URL(server.url('elsewhere'));
      await query(
        'heirs',
        `CREATE EXTENSION postgres_fdw;
        CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '${hostname}', port '${port}', dbname 'elsewhere');
        CREATE FOREIGN TABLE base (id integer) SERVER far; CREATE TABLE child (note text) INHERITS (base);
        INSERT INTO child VALUES (1, 'own')`,
      );
      const heirs = { snapshot: { src_url: server.url('heirs'), dst_url: server.url('heirs_dev') } };
      const context = testContext({ settings: { working_directory: join(folder.path, 'work'), targets: { heirs } } });
      await build(context, { target: 'heirs' });
      const loadHeirs = async (remoteTables: boolean) =>
        applyLoad(context, await planLoad(context, { target: 'heirs', remoteTables }));
      await expect(loadHeirs(false)).rejects.toMatchObject({
        code: 'remote_tables_needed',
        details: ['public.child needs foreign table public.base'],
        hint: expect.stringContaining('--remote-tables'),
      });
      expect(await server.databases()).not.toContain('heirs_dev');
      expect((await loadHeirs(true)).rows).toBe(1);
      expect(normalized(await server.dump('heirs_dev'))).toEqual(normalized(await server.dump('heirs')));
    });

    it('cannot be changed by a sanitization query', async () => {
      await expect(sanitized("UPDATE person SET email = ''; UPDATE customer SET email = ''")).rejects.toThrow(
        /relation "customer" does not exist/,
      );
      expect(await emails()).toBe('ada@example.com\nbob@example.com\n');
      const before = await logins();
      const { coverage, snapshot: row } = await sanitized("UPDATE person SET email = id || '@example.invalid'");
      expect(row.rows).toBe(7);
      expect(JSON.stringify(coverage)).not.toContain('customer');
      expect(await logins()).toBe(before);
      expect(await foreignObjects('app_safe')).toBe('0|0|0\n');
      expect(warnings()).toContainEqual(
        expect.stringMatching(/^remote_tables_left_out: .*public\.customer \(postgres_fdw\)/),
      );
      expect(row).not.toHaveProperty('definitions_only');
      expect(await emails()).toBe('ada@example.com\nbob@example.com\n');
    });

    it('are neither read nor written by a subset', async () => {
      const context = contextOf({
        subset: {
          src_url: server.url('app'),
          dst_url: server.url('app_small'),
          subset_tables: [
            { table: 'public.person', where: 'id = 1' },
            { table: 'public.sale', where: 'sale.id < 3' },
            { table: 'public.share', percent: 50 },
          ],
        },
      });
      const before = await logins();
      const planned = await planSubset(context, { target: 'app' });
      expect(planned.plan.warnings).toContainEqual({
        code: 'remote_tables_left_out',
        message: expect.stringContaining('public.customer (postgres_fdw)'),
      });
      const { rows } = await withDetails(applySubset(context, planned));
      expect(rows).toBe(4);
      expect(await logins()).toBe(before);
      expect(await foreignObjects('app_small')).toBe('0|0|0\n');
      expect(warnings()).toContainEqual(
        'remote_tables_left_out: The view public.emails needs the foreign table public.customer: it is not created',
      );
      expect(await emails()).toBe('ada@example.com\nbob@example.com\n');
    });
  },
  { files: FDW },
);
