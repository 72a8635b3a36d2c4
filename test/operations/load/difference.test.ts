import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { TargetSettings } from '../../../src/config/schema/settings.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { applyReset, planReset } from '../../../src/operations/reset/reset.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { LoadPlan, LoadResult } from '../../../src/results/load-results.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { withDetails } from '../../helpers/databases/build-and-load.ts';
import { dumpDifferences } from '../../helpers/databases/dump-differences.ts';
import { asData } from '../../helpers/fakes/as-data.ts';
import { itIf } from '../../helpers/it-if.ts';
import { EVERY_OBJECT } from '../../helpers/postgres/every-object.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** Dependencies between tables that differ and tables that do not; `large` is large enough for its indexes to be dropped. */
const DEPENDENT = `
  CREATE TABLE customer (id integer CONSTRAINT customer_key PRIMARY KEY, name text NOT NULL UNIQUE, boss integer REFERENCES customer DEFERRABLE);
  INSERT INTO customer SELECT i, 'customer ' || i, nullif(i / 2, 0) FROM generate_series(1, 100) i;
  COMMENT ON CONSTRAINT customer_key ON customer IS 'a key';
  CREATE TABLE large (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer integer NOT NULL,
    body text NOT NULL, twice text GENERATED ALWAYS AS (body || body) STORED, CONSTRAINT large_customer FOREIGN KEY (customer) REFERENCES customer ON DELETE CASCADE);
  INSERT INTO large (customer, body) SELECT 1 + i % 100, repeat(md5(i::text), 10) FROM generate_series(1, 30000) i;
  COMMENT ON CONSTRAINT large_customer ON large IS 'a foreign key';
  CREATE INDEX large_plain ON large (customer) WITH (fillfactor = 60); CREATE INDEX large_expression ON large (lower(body)) WHERE id > 5;
  CREATE UNIQUE INDEX large_identity ON large (id, customer); ALTER TABLE large REPLICA IDENTITY USING INDEX large_pkey;
  CREATE INDEX large_cluster ON large (customer, id); ALTER TABLE large CLUSTER ON large_cluster;
  CREATE INDEX large_noted ON large (body); COMMENT ON INDEX large_noted IS 'an index';
  ALTER INDEX large_expression ALTER COLUMN 1 SET STATISTICS 500;
  CREATE STATISTICS large_statistics (dependencies) ON id, customer FROM large;
  CREATE VIEW by_key AS SELECT id, body FROM large GROUP BY id;
  CREATE TABLE line (large bigint REFERENCES large, at date NOT NULL, n integer) PARTITION BY RANGE (at);
  CREATE TABLE line_1 PARTITION OF line FOR VALUES FROM (MINVALUE) TO ('2026-01-01'); CREATE TABLE line_2 PARTITION OF line DEFAULT;
  CREATE INDEX line_index ON line (n); ALTER TABLE line ADD CONSTRAINT line_key UNIQUE (large, at);
  INSERT INTO line SELECT i, date '2025-12-01' + i % 60, i FROM generate_series(1, 300) i;
  CREATE TABLE note (large bigint, at date, FOREIGN KEY (large, at) REFERENCES line (large, at));
  INSERT INTO note SELECT large, at FROM line WHERE n < 10;
  CREATE TABLE log (what text);
  CREATE FUNCTION log_it() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    IF current_database() <> 'source' THEN INSERT INTO public.log VALUES (tg_name); END IF; RETURN NULL; END$$;
  CREATE TRIGGER always AFTER INSERT ON large FOR EACH STATEMENT EXECUTE FUNCTION log_it(); ALTER TABLE large ENABLE ALWAYS TRIGGER always;
  CREATE TRIGGER each AFTER INSERT ON customer FOR EACH ROW EXECUTE FUNCTION log_it();
  CREATE TRIGGER emptied AFTER TRUNCATE ON customer FOR EACH STATEMENT EXECUTE FUNCTION log_it();
  CREATE TRIGGER replica AFTER INSERT ON line_1 FOR EACH STATEMENT EXECUTE FUNCTION log_it(); ALTER TABLE line_1 ENABLE REPLICA TRIGGER replica;
  CREATE TRIGGER off AFTER INSERT ON note FOR EACH STATEMENT EXECUTE FUNCTION log_it(); ALTER TABLE note DISABLE TRIGGER off;
  CREATE TABLE tenant (id integer); INSERT INTO tenant VALUES (1);
  ALTER TABLE tenant ENABLE ROW LEVEL SECURITY; ALTER TABLE tenant FORCE ROW LEVEL SECURITY;
  CREATE MATERIALIZED VIEW sums AS SELECT customer, count(*) AS n FROM large GROUP BY customer; CREATE UNIQUE INDEX ON sums (customer);
  CREATE MATERIALIZED VIEW sum_of_sums AS SELECT sum(n) AS n FROM sums;
  CREATE TABLE rate (percent integer); INSERT INTO rate VALUES (10);
  CREATE FUNCTION taxed(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN (SELECT $1 * percent / 100 FROM public.rate); END';
  CREATE TABLE price (n integer); INSERT INTO price VALUES (100), (200); CREATE INDEX ON price (taxed(n));
  SELECT lo_from_bytea(4711, 'large')`;

const FULL = process.env.TEST_FULL !== undefined;
/** Each needs loads of its own, which take seconds. */
const itInFull = itIf(FULL);

/** Each with the tables that differ after it. `price` is computed by a function of its own, and `unlogged` may be lost. */
const CHANGES: { change: string; tables: string[]; full?: true }[] = [
  { change: 'SELECT 1', tables: [], full: true },
  { change: "UPDATE customer SET name = name || '!' WHERE id % 7 = 0", tables: ['public.customer'], full: true },
  {
    change:
      "UPDATE rate SET percent = 20; DELETE FROM note; INSERT INTO large (customer, body) SELECT 3, md5(i::text) FROM generate_series(1, 9) i; UPDATE line SET n = n + 1 WHERE at < '2026-01-01'",
    tables: ['public.large', 'public.line_1', 'public.note', 'public.rate'],
  },
  {
    change: 'UPDATE tenant SET id = 2; TRUNCATE line CASCADE',
    tables: ['public.line_1', 'public.line_2', 'public.tenant'],
    full: true,
  },
  {
    change: "INSERT INTO hashed VALUES ('sad', 99); UPDATE twice SET id = 2; SELECT nextval('counter')",
    tables: [
      'public.hashed_0',
      'public.hashed_1_high',
      'public.hashed_1_low',
      'public.hashed_2',
      'public.heir',
      'public.twice',
    ],
    full: true,
  },
];
const ALWAYS = ['public.price', ...(FULL ? ['public.unlogged'] : [])];

describeWithPostgres('a load of what differs from the base copy', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  const events: RunEvent[] = [];

  beforeAll(async () => {
    await server.createDatabase('source');
    if (FULL) await server.psql('source', { sql: EVERY_OBJECT });
    await server.psql('source', { sql: DEPENDENT });
    await build(contextWith(), { target: 'app' });
    await load({ keepBase: true });
  }, 60_000);

  function contextWith(snapshot: TargetSettings['snapshot'] = {}, work = 'work'): Context {
    const urls = { src_url: server.url('source'), dst_url: server.url('copy') };
    const app = { snapshot: { ...urls, schema_config: { use_default_schema: false }, ...snapshot } };
    return testContext({ settings: { working_directory: join(folder.path, work), targets: { app } }, events });
  }

  const sql = async (text: string, database = 'copy') => (await server.psql(database, { sql: text })).trim();

  async function planned(request: Partial<LoadRequest> = {}, on = contextWith()): Promise<LoadPlan> {
    return (await planLoad(on, { target: 'app', cpus: 2, remoteTables: true, ...request })).plan;
  }

  async function load(request: Partial<LoadRequest> = {}, on = contextWith()): Promise<LoadResult> {
    const plan = await planLoad(on, { target: 'app', cpus: 2, remoteTables: true, ...request });
    return withDetails(applyLoad(on, asData(plan)));
  }

  it('results in the same database as a full load, change after change', async () => {
    for (const { change, tables } of CHANGES.filter(({ full = false }) => FULL || !full)) {
      await sql(change, 'source');
      await build(contextWith(), { target: 'app' });
      const { restore } = await planLoad(contextWith(), { target: 'app', remoteTables: true });
      expect(restore?.difference?.tables, `${change}: ${restore?.difference?.reason}`).toEqual(
        [...tables, ...ALWAYS].sort(),
      );
      const result = await load({ keepBase: true });
      expect(result.difference).toMatchObject({ method: 'difference', tables: tables.length + ALWAYS.length });
      const ofLarge = result.difference?.by_table?.find(({ table }) => table === 'public.large');
      if (tables.includes('public.large')) expect(ofLarge).toMatchObject({ method: 'rows', deleted: 0, inserted: 9 });
      expect(await load({ destdb: server.url('full') })).not.toHaveProperty('difference');
      const [full, copy] = await Promise.all([dumpOf('full'), dumpOf('copy')]);
      expect(dumpDifferences(full, copy), change).toEqual([]);
      // pg_dump only refreshes them.
      const views = 'SELECT (SELECT array_agg(s ORDER BY s) FROM sums s), n FROM sum_of_sums';
      expect(await sql(views), change).toBe(await sql(views, 'full'));
    }
    // The index of a table that does not differ has values that come from one that does.
    expect(await sql('SET enable_seqscan = off; SELECT count(*) FROM price WHERE taxed(n) = 40')).toBe('1');
  }, 240_000);

  const dumpOf = (database: string) => server.dump(database, '--load-via-partition-root');

  it('is not made where the result could be another, and says why', async () => {
    const method = async (request: Partial<LoadRequest> = {}, on = contextWith()) => {
      const { difference } = await planned(request, on);
      return `${difference?.method}: ${difference?.reason}`;
    };
    expect(await method()).toMatch(
      /^difference: the base copy is of snapshot [0-9a-f]{8}, which has the same definitions$/,
    );
    expect(await method({ full: true })).toBe('full: --full was given');
    expect(await method({ tables: ['public.rate'] })).toBe('full: only some tables are loaded');
    expect(await method({ keepGoing: 'inspect' })).toBe('full: --keep-going restores every object');
    expect(await method({ remoteTables: false })).toBe('full: the definitions differ from those of the base copy');
    await sql('CREATE ROLE other');
    expect(await method({}, contextWith({ role: 'other' }))).toBe('full: the owner of the objects differs');
    expect((await planned({ inPlace: true })).difference).toBeUndefined();
    await sql('ALTER DATABASE copy OWNER TO other');
    expect(await method()).toBe('full: the destination has another owner than the base copy');
    await sql('ALTER DATABASE copy OWNER TO postgres');

    const on = contextWith();
    const before = await planLoad(on, { target: 'app', remoteTables: true });
    await sql('ALTER DATABASE "copy.tool-base" ALLOW_CONNECTIONS true', 'postgres');
    expect(await method()).toBe(
      'full: the base copy cannot be used: it accepts connections, so it may have been changed',
    );
    await expect(applyLoad(on, before)).rejects.toMatchObject({ code: 'plan_outdated' });
    await sql('ALTER DATABASE "copy.tool-base" ALLOW_CONNECTIONS false', 'postgres');

    const mark = await sql(
      `SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = 'copy.tool-base'`,
    );
    const forge = async (change: object) => {
      const { contents, ...rest } = JSON.parse(mark);
      const forged = JSON.stringify({ ...rest, contents: { ...contents, ...change } });
      await sql(`COMMENT ON DATABASE "copy.tool-base" IS '${forged}'`, 'postgres');
      return method();
    };
    expect(await forge({ server: '150001' })).toBe('full: the server was updated after the base copy was made');
    expect(await forge({ sanitized: true })).toBe('full: the base copy has sanitized data');
    expect(await forge({ others: '' })).toBe('full: large objects differ from those of the base copy');
    expect(await forge({ extensions: { plpgsql: '0.9' } })).toMatch(/another version of extension plpgsql/);
    expect(await forge({ tables: 'AAAA' })).toBe('full: the base copy has other tables');
    expect(await forge({})).toMatch(/^difference/);
  });

  it('replaces rows by their key, and says why it does not', async () => {
    const change = async (text: string) => {
      await sql(text, 'source');
      await build(contextWith(), { target: 'app' });
    };
    const ofLarge = ({ difference }: Pick<LoadPlan, 'difference'>) =>
      difference?.by_table?.find(({ table }) => table === 'public.large');
    await load({ keepBase: true });
    await change(`DELETE FROM note; DELETE FROM line; DELETE FROM large WHERE id = 7;
      UPDATE large SET body = 'new' WHERE id % 1000 = 0`);
    expect(ofLarge(await planned())).toMatchObject({ method: 'rows', reason: 'it has a key' });
    expect(ofLarge(await load({ keepBase: true }))).toMatchObject({ method: 'rows', deleted: 31, inserted: 30 });
    const content = 'SELECT count(*), sum(hashtextextended(l::text, 0)) FROM large l';
    expect(await sql(content)).toBe(await sql(content, 'source'));
    await change("UPDATE large SET body = body || '!' WHERE id % 3 = 0");
    expect(ofLarge(await planned())).toMatchObject({ method: 'rows' });
    expect(ofLarge(await load())).toMatchObject({ method: 'whole', reason: 'much of it differs' });
    await change("UPDATE large SET body = 'newer' WHERE id = 1");
    const { base_snapshot: id } = (await planned()).difference ?? {};
    const snapshots = join(folder.path, 'work', 'snapshots');
    const manifest = (await readdir(snapshots, { recursive: true })).find((name) => name.endsWith(`-${id}.json`));
    await rm(join(snapshots, manifest ?? ''));
    expect(ofLarge(await planned())).toMatchObject({
      method: 'whole',
      reason: `snapshot ${id} is not on this machine`,
    });
  }, 240_000);

  it('has the rows that a foreign key needs first where partitioned tables refer to each other', async () => {
    const body = 'repeat(md5(i::text), 4)';
    await server.createDatabase('parts');
    await sql(
      `CREATE TABLE customer (id integer PRIMARY KEY, body text) PARTITION BY RANGE (id);
      CREATE TABLE customer_1 PARTITION OF customer DEFAULT;
      CREATE TABLE orders (id integer PRIMARY KEY, customer integer REFERENCES customer, body text) PARTITION BY RANGE (id);
      CREATE TABLE orders_1 PARTITION OF orders DEFAULT;
      CREATE TABLE node (id integer PRIMARY KEY, parent integer REFERENCES node, body text) PARTITION BY RANGE (id);
      CREATE TABLE node_1 PARTITION OF node FOR VALUES FROM (0) TO (100000) PARTITION BY RANGE (id);
      CREATE TABLE node_1_1 PARTITION OF node_1 DEFAULT; CREATE TABLE node_2 PARTITION OF node DEFAULT`,
      'parts',
    );
    const insert = (from: number, to: number) =>
      sql(
        `INSERT INTO customer SELECT i, ${body} FROM generate_series(${from}, ${to}) i;
        INSERT INTO orders SELECT i, i, ${body} || ${body} FROM generate_series(${from}, ${to}) i;
        INSERT INTO node SELECT i, 100000 + i, ${body} FROM generate_series(${from}, ${to}) i
          UNION ALL SELECT 100000 + i, i, ${body} || ${body} FROM generate_series(${from}, ${to}) i`,
        'parts',
      );
    await insert(1, 4000);
    const on = contextWith({ src_url: server.url('parts'), dst_url: server.url('parts_copy') }, 'parts');
    await build(on, { target: 'app' });
    await load({ keepBase: true }, on);
    const digest = (table: string) => `SELECT count(*), sum(hashtextextended(t::text, 0)) FROM ${table} t`;
    for (const change of [
      () => insert(4001, 4050),
      () =>
        sql(
          'DELETE FROM orders WHERE id < 20; DELETE FROM customer WHERE id < 10; DELETE FROM node WHERE id % 100000 < 5',
          'parts',
        ),
    ]) {
      await change();
      await build(on, { target: 'app' });
      const { difference } = await load({ keepBase: true }, on);
      const ways = difference?.by_table?.map(({ table, method }) => `${table} ${method}`).sort();
      expect(ways).toEqual(['customer_1', 'node_1_1', 'node_2', 'orders_1'].map((name) => `public.${name} rows`));
      for (const table of ['customer', 'orders', 'node']) {
        expect(await sql(digest(table), 'parts_copy')).toBe(await sql(digest(table), 'parts'));
      }
    }
    await sql('TRUNCATE customer, orders, node', 'parts');
    await build(on, { target: 'app' });
    expect(await load({}, on)).toMatchObject({
      difference: { method: 'full', reason: 'all tables differ, and would be loaded whole' },
      base_database: 'parts_copy.tool-base',
    });
    const unverified = 'SELECT count(*) FROM pg_constraint WHERE NOT convalidated';
    const keys = "SELECT array_agg(conname ORDER BY conname) FROM pg_constraint WHERE contype = 'f'";
    expect(await sql(unverified, 'parts_copy')).toBe('0');
    expect(await sql(keys, 'parts_copy')).toBe(await sql(keys, 'parts'));
  }, 240_000);

  it('keeps a base copy of the new state where one was used, unless told otherwise', async () => {
    await load({ keepBase: true });
    await sql('UPDATE rate SET percent = percent + 1', 'source');
    await build(contextWith(), { target: 'app' });
    expect(await planned()).toMatchObject({ keep_base: { spare: false }, difference: { method: 'difference' } });
    expect((await planned({ keepBase: false })).keep_base).toBeUndefined();
    expect((await planned({}, contextWith({ keep_base: false }))).keep_base).toBeUndefined();
    expect((await planned({ full: true })).keep_base).toBeUndefined();
    expect(await load()).toMatchObject({ base_database: 'copy.tool-base' });
    const present = await sql('SELECT percent FROM rate');
    await sql('DELETE FROM rate');
    await applyReset(contextWith(), await planReset(contextWith(), { target: 'app' }));
    expect(await sql('SELECT percent FROM rate')).toBe(present);
    expect(await load({ keepBase: false })).not.toHaveProperty('base_database');
    expect((await planned()).copies).toBeUndefined();
    await load({ keepBase: true });
  }, 240_000);

  itInFull.each([
    ['load', () => load()],
    ['reset', async () => applyReset(contextWith(), await planReset(contextWith(), { target: 'app' }))],
  ])('does not bring back grants that were revoked: %s', async (what, run) => {
    const reader = `reader_of_${what}`;
    const grants = `SELECT json_build_array((SELECT array_agg(relacl::text) FROM pg_class WHERE relname IN ('rate', 'tenant')),
      (SELECT attacl FROM pg_attribute WHERE attrelid = 'price'::regclass AND attname = 'n'), (SELECT json_agg(defaclacl) FROM pg_default_acl))`;
    await sql(`CREATE ROLE ${reader}; GRANT SELECT ON rate, tenant TO ${reader}; GRANT SELECT (n) ON price TO ${reader};
      ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO ${reader}; ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT INSERT ON TABLES TO ${reader}`);
    await load({ keepBase: true });
    const granted = await sql(grants);
    expect(granted.match(new RegExp(reader, 'g'))).toHaveLength(5);
    await sql(`REVOKE ALL ON rate FROM ${reader}; REVOKE ALL (n) ON price FROM ${reader};
      ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM ${reader}; ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON TABLES FROM ${reader}`);
    const revoked = await sql(grants);
    expect(revoked.match(new RegExp(reader, 'g'))).toHaveLength(1);
    await run();
    expect(await sql(grants)).toBe(revoked);
  });

  itInFull(
    'follows changed definitions with a full load',
    async () => {
      await load({ keepBase: true });
      await sql('CREATE INDEX ON rate (percent)', 'source');
      await build(contextWith(), { target: 'app' });
      expect(await load({ keepBase: true })).toMatchObject({ difference: { method: 'full', saved_tables: 0 } });
      await sql("SELECT lo_from_bytea(4712, 'more')", 'source');
      await build(contextWith(), { target: 'app' });
      expect(await load({ keepBase: true })).toMatchObject({
        difference: { method: 'full', reason: 'large objects differ from those of the base copy' },
      });
      expect(await load({ keepBase: true })).toMatchObject({ difference: { method: 'difference' } });
    },
    240_000,
  );
});
