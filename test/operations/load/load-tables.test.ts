import { beforeAll, beforeEach, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { LoadResult } from '../../../src/results/load-results.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const FILL = `
  CREATE TABLE country (id integer PRIMARY KEY, name text UNIQUE);
  CREATE TABLE customer (id integer PRIMARY KEY, country text REFERENCES country (name), boss integer REFERENCES customer);
  CREATE TABLE product (id integer PRIMARY KEY, best_item integer);
  CREATE TABLE orders (id serial, day date NOT NULL, customer integer REFERENCES customer, PRIMARY KEY (id, day))
    PARTITION BY RANGE (day);
  CREATE TABLE orders_2025 PARTITION OF orders FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
  CREATE TABLE orders_2026 PARTITION OF orders FOR VALUES FROM ('2026-01-01') TO ('2027-01-01') PARTITION BY RANGE (day);
  CREATE TABLE orders_2026_all PARTITION OF orders_2026 FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
  CREATE TABLE "item of order" (id integer PRIMARY KEY, "order" integer, day date, product integer REFERENCES product,
    FOREIGN KEY ("order", day) REFERENCES orders);
  ALTER TABLE product ADD FOREIGN KEY (best_item) REFERENCES "item of order";
  CREATE TABLE note (id integer PRIMARY KEY, at timestamptz DEFAULT now());
  CREATE TABLE long_note (text text) INHERITS (note);
  CREATE TABLE secret (id integer PRIMARY KEY, word text);
  CREATE SCHEMA "Other Side"; CREATE TABLE "Other Side"."a b" (id integer PRIMARY KEY REFERENCES country);
  INSERT INTO country VALUES (1, 'Norway'), (2, 'Chile');
  INSERT INTO customer VALUES (1, 'Norway', NULL), (2, 'Chile', 1), (3, NULL, 1);
  INSERT INTO orders (day, customer) VALUES ('2025-05-05', 1), ('2026-05-05', 2);
  INSERT INTO product VALUES (1, NULL), (2, NULL);
  INSERT INTO "item of order" VALUES (1, 1, '2025-05-05', 1), (2, 2, '2026-05-05', 2);
  UPDATE product SET best_item = id;
  INSERT INTO note (id) VALUES (1); INSERT INTO long_note (id, text) VALUES (2, 'long'), (3, 'longer');
  INSERT INTO secret SELECT i, 'word ' || i FROM generate_series(1, 500) i;
  INSERT INTO "Other Side"."a b" VALUES (1);
  CREATE MATERIALIZED VIEW summary AS SELECT (SELECT count(*) FROM customer) AS customers, (SELECT count(*) FROM secret) AS secrets;
  CREATE SEQUENCE counter; SELECT setval('counter', 42)`;

/** Whoever refreshes the view writes a row into another table. */
const SCRIBBLER = `
  CREATE TABLE kept (id integer); INSERT INTO kept VALUES (1);
  CREATE TABLE scribbled (id integer);
  CREATE FUNCTION scribble() RETURNS integer LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO public.scribbled VALUES (1); RETURN 1; END $$;
  CREATE MATERIALIZED VIEW scribbling AS SELECT public.scribble()`;

describeWithPostgres('a load of some tables', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let events: RunEvent[];
  let context: Context;

  beforeAll(async () => {
    for (const [name, sql] of Object.entries({ source: FILL, scribbler: SCRIBBLER })) {
      await server.createDatabase(name);
      await server.psql(name, { sql });
    }
    context = newContext();
    await build(context, { target: 'app' });
  }, 60_000);

  beforeEach(async () => {
    events = [];
    context = newContext();
    for (const name of await server.databases()) {
      if (name.startsWith('copy')) await server.psql('postgres', { sql: `DROP DATABASE "${name}" WITH (FORCE)` });
    }
    await server.createDatabase('copy');
    await server.psql('copy', { sql: 'CREATE TABLE mine (id integer); INSERT INTO mine VALUES (7)' });
  });

  function newContext(schema_config: object = { use_default_schema: false }): Context {
    const target = (source: string) => ({
      snapshot: { src_url: server.url(source), dst_url: server.url('copy'), schema_config },
    });
    const targets = { app: target('source'), scribbler: target('scribbler') };
    return testContext({ settings: { working_directory: folder.path, targets }, events });
  }

  async function run(request: Partial<LoadRequest>): Promise<LoadResult> {
    return applyLoad(context, await planLoad(context, { target: 'app', ...request }));
  }

  /** Rows of every table that has some, each table for itself. */
  async function filled(): Promise<Record<string, number>> {
    const sql = `SELECT format('SELECT %L, count(*) FROM ONLY %s', oid::regclass, oid::regclass) FROM pg_class
      WHERE relkind = 'r' AND relnamespace IN ('public'::regnamespace, '"Other Side"'::regnamespace)`;
    const queries = (await server.psql('copy', { sql })).trim().split('\n');
    const rows = (await server.psql('copy', { sql: queries.join(' UNION ALL ') })).trim().split('\n');
    const counted = rows.map((row) => row.split('|')).map(([name = '', count]) => [name, Number(count)] as const);
    return Object.fromEntries(counted.filter(([, count]) => count > 0).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  for (const inPlace of [false, true]) {
    const how = inPlace ? 'in place' : 'beside the destination';

    it(`brings what they need, and makes the rest of the database without rows (${how})`, async () => {
      const result = await run({ tables: ['public.item of order'], inPlace });
      expect(await filled()).toEqual({
        '"item of order"': 2,
        country: 2,
        customer: 3,
        orders_2025: 1,
        orders_2026_all: 1,
        product: 2,
      });
      expect(await server.dump('copy', '--schema-only')).toBe(await server.dump('source', '--schema-only'));
      expect(await server.psql('copy', { sql: 'SELECT customers, secrets FROM summary' })).toBe('3|0\n');
      expect(await server.psql('copy', { sql: `SELECT nextval('counter'), nextval('orders_id_seq')` })).toBe('43|3\n');
      expect(result).toMatchObject({ tables: 6, rows: 11, undo_database: inPlace ? null : 'copy.tool-undo' });
      expect(result.selection?.empty).toEqual(['Other Side.a b', 'public.long_note', 'public.note', 'public.secret']);
    });
  }

  it('plans chosen and required tables with reasons, and changes nothing', async () => {
    const { plan } = await planLoad(context, { target: 'app', tables: ['public.orders'] });
    expect(plan).toMatchObject({ tables: 4, rows: 7 });
    expect(plan.selection).toEqual({
      chosen: ['public.orders'],
      needed: [
        { table: 'public.customer', needed_by: 'public.orders', why: 'reference' },
        { table: 'public.orders_2025', needed_by: 'public.orders', why: 'part' },
        { table: 'public.orders_2026', needed_by: 'public.orders', why: 'part' },
        { table: 'public.country', needed_by: 'public.customer', why: 'reference' },
        { table: 'public.orders_2026_all', needed_by: 'public.orders_2026', why: 'part' },
      ],
      empty: [
        'Other Side.a b',
        'public.item of order',
        'public.long_note',
        'public.note',
        'public.product',
        'public.secret',
      ],
    });
    expect(plan.steps[0]).toBe('Restore 4 tables, and 6 without rows into a shadow database beside the destination');
    expect(await server.psql('copy', { sql: 'SELECT id FROM mine' })).toBe('7\n');
  });

  it('takes a partition alone, with what its parent refers to', async () => {
    await run({ tables: ['public.orders_2026_all'] });
    expect(await filled()).toEqual({ country: 2, customer: 3, orders_2026_all: 1 });
  });

  it('takes the tables that inherit with the one that they inherit from', async () => {
    await run({ tables: ['public.note,Other Side.a b'] });
    expect(await filled()).toEqual({ '"Other Side"."a b"': 1, country: 2, long_note: 2, note: 1 });
  });

  it('is undone as every load is', async () => {
    await run({ tables: ['public.country'] });
    await applyUndo(context, await planUndo(context, { target: 'app' }));
    expect(await server.psql('copy', { sql: 'SELECT id FROM mine' })).toBe('7\n');
  });

  it('refuses tables that are not there, and those whose schema is not loaded', async () => {
    await expect(run({ tables: ['public.custommer'] })).rejects.toMatchObject({
      code: 'table_unknown',
      exit: 2,
      details: [expect.stringContaining('did you mean public.customer')],
    });
    context = newContext({});
    await expect(run({ tables: ['Other Side.a b'] })).rejects.toMatchObject({ code: 'table_not_loaded', exit: 2 });
    expect(await server.psql('copy', { sql: 'SELECT id FROM mine' })).toBe('7\n');
  });

  it('fails when a table that is to be empty has rows, and leaves the destination as it was', async () => {
    await build(context, { target: 'scribbler' });
    for (const inPlace of [false, true]) {
      const loading = run({ target: 'scribbler', tables: ['public.kept'], inPlace });
      await expect(loading).rejects.toMatchObject({ code: 'restore_failed' });
      await expect(loading.catch(({ details }) => details.join(' '))).resolves.toMatch(
        /public\.scribbled.*though it was to be left empty/,
      );
      expect(await server.psql('copy', { sql: 'SELECT id FROM mine' })).toBe('7\n');
    }
  });
});
