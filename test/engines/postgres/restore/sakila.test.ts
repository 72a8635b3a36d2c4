import { beforeAll, expect, it } from 'vitest';
import type { SchemaConfig } from '../../../../src/config/schema/settings.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { listSnapshots } from '../../../../src/operations/snapshots/snapshots.ts';
import { verify } from '../../../../src/operations/snapshots/verify/verify.ts';
import type { RunEvent } from '../../../../src/results/events.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const SAKILA = new URL('../../../../../shared/data/sakila-postgres', import.meta.url).pathname;

/** Everything that a dump has to carry beyond Sakila's own, in a schema beside `public`. */
const BESIDE = `
  CREATE EXTENSION citext;
  CREATE SCHEMA billing;
  CREATE TYPE billing.money_with_currency AS (amount numeric, currency text);
  CREATE DOMAIN billing.iban AS text CHECK (value ~ '^[A-Z]{2}');
  CREATE TABLE billing.account (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer_id integer REFERENCES public.customer,
    iban billing.iban, mail public.citext UNIQUE, balance billing.money_with_currency,
    doubled numeric GENERATED ALWAYS AS (((balance).amount) * 2) STORED, note text);
  INSERT INTO billing.account (customer_id, iban, mail, balance, note)
    SELECT customer_id, 'DE' || customer_id, 'Mail' || customer_id || '@Example.com', ROW(customer_id::numeric, 'EUR'::text)::billing.money_with_currency,
      E'tab\\there, line\\nbreak, \\\\. and back\\\\slash, ünïcödé 🐘' FROM public.customer;
  CREATE TABLE billing.entry (id bigserial, booked date NOT NULL, amount numeric) PARTITION BY RANGE (booked);
  CREATE TABLE billing.entry_2025 PARTITION OF billing.entry FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
  CREATE TABLE billing.entry_2026 PARTITION OF billing.entry FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
  INSERT INTO billing.entry (booked, amount) SELECT date '2025-06-01' + i % 500, i FROM generate_series(1, 2000) i;
  CREATE MATERIALIZED VIEW billing.totals AS SELECT booked, sum(amount) FROM billing.entry GROUP BY booked;
  CREATE TABLE billing."Gift Cards" ("Card No" text PRIMARY KEY, "select" integer);
  INSERT INTO billing."Gift Cards" VALUES ('a', 1), ('b', NULL);
  CREATE TABLE billing.nothing ();
  ALTER TABLE billing.account ENABLE ROW LEVEL SECURITY;
  CREATE POLICY own_rows ON billing.account USING (note IS NOT NULL);
  COMMENT ON TABLE billing.account IS 'it''s commented';
  SELECT lo_from_bytea(424242, 'a large object');
  CREATE SCHEMA audit;
  CREATE TABLE audit.log (id integer PRIMARY KEY, at timestamptz);
  INSERT INTO audit.log SELECT i, timestamptz '2026-01-01 UTC' + i * interval '1 s' FROM generate_series(1, 50) i`;

/** The table "Behavior" of the configuration reference: what is configured, and the schemas that come of it. */
const ROWS: { title: string; config: SchemaConfig | undefined; schemas: string[] }[] = [
  { title: 'without schema_config only public', config: undefined, schemas: ['public'] },
  { title: 'with use_default_schema: true only public', config: { use_default_schema: true }, schemas: ['public'] },
  {
    title: 'with use_default_schema: false every schema',
    config: { use_default_schema: false },
    schemas: ['audit', 'billing', 'public'],
  },
  {
    title: 'with include_schemas only those',
    config: { include_schemas: ['audit', 'public'] },
    schemas: ['audit', 'public'],
  },
  {
    title: 'with exclude_schemas all but those',
    config: { exclude_schemas: ['audit'] },
    schemas: ['billing', 'public'],
  },
];

describeWithPostgres(
  'a snapshot of Sakila, restored elsewhere,',
  () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startPostgres());

    beforeAll(async () => {
      await server.createDatabase('sakila');
      await server.psql('sakila', { file: `${SAKILA}/schema.sql` });
      await server.psql('sakila', { file: `${SAKILA}/data.sql` });
      await server.psql('sakila', { sql: BESIDE });
    }, 120_000);

    function contextFor(config: SchemaConfig | undefined, events: RunEvent[] = []) {
      const snapshot = {
        src_url: server.url('sakila'),
        dst_url: server.url('copy'),
        ...(config && { schema_config: config }),
      };
      return testContext({ settings: { working_directory: folder.path, targets: { sakila: { snapshot } } }, events });
    }

    for (const { title, config, schemas } of ROWS) {
      for (const inPlace of [false, true]) {
        it(`holds ${title}, dumped alike${inPlace ? ', in place' : ''}`, async () => {
          const context = contextFor(config);
          if (inPlace) {
            await server.psql('postgres', { sql: 'DROP DATABASE IF EXISTS copy' });
            await server.createDatabase('copy');
            await server.psql('copy', { sql: 'CREATE SCHEMA left_over CREATE TABLE junk (id integer)' });
          } else {
            const row = await build(context, { target: 'sakila', cpus: 2 });
            expect(row.schemas).toEqual(schemas);
          }
          await applyLoad(context, await planLoad(context, { target: 'sakila', inPlace, cpus: 2 }));
          const all = ['audit', 'billing', 'public'];
          const excluded = all
            .filter((schema) => !schemas.includes(schema))
            .map((schema) => `--exclude-schema=${schema}`);
          expect(await server.dump('copy', ...excluded)).toBe(await server.dump('sakila', ...excluded));
        });
      }
    }

    it('is stored once however often it is built', async () => {
      const context = contextFor({ use_default_schema: false });
      const first = await build(context, { target: 'sakila', cpus: 2 });
      const second = await build(context, { target: 'sakila', cpus: 2 });
      expect(first.size_bytes).toBeGreaterThan(1_000_000);
      // The archive's table of contents holds the time and is the only new object.
      expect(second.stored_bytes).toBeLessThan(first.size_bytes / 100);
      const { ok, files } = await verify(context, { target: 'sakila' });
      expect({ ok, files }).toEqual({ ok: true, files: 30 });
    });

    it('warns of a schema that does not exist and goes on', async () => {
      const events: RunEvent[] = [];
      const context = contextFor({ include_schemas: ['public', 'nowhere'] }, events);
      const row = await build(context, { target: 'sakila' });
      expect(row.schemas).toEqual(['public']);
      expect(events).toContainEqual(expect.objectContaining({ event: 'warning', code: 'schema_not_found' }));
    });

    it('counts the rows that are in the tables', async () => {
      const context = contextFor({ use_default_schema: false });
      const { snapshots } = await listSnapshots(context, 'sakila');
      const whole = snapshots.find((row) => row.schemas.length === 3);
      const counted = await server.psql('sakila', {
        sql: `SELECT sum((xpath('/row/c/text()', query_to_xml(format('SELECT count(*) AS c FROM ONLY %s', c.oid::regclass), false, true, '')))[1]::text::int)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind = 'r' AND n.nspname IN ('public', 'billing', 'audit')`,
      });
      expect(whole?.rows).toBe(Number(counted));
    });
  },
  { files: SAKILA },
);
