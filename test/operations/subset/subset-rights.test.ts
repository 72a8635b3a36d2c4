import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findServerPrograms } from '../../../src/engines/postgres/server/server-programs.ts';
import { explainSubset } from '../../../src/operations/subset/explain-subset.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import type { SubsetSettings } from '../../../src/subset/graph.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { type Standby, startStandby } from '../../helpers/postgres/postgres-standby.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const FILL = `
  CREATE TABLE country (code text PRIMARY KEY);
  CREATE TABLE customer (id integer PRIMARY KEY, country text NOT NULL REFERENCES country);
  CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer NOT NULL REFERENCES customer);
  INSERT INTO country VALUES ('at'), ('de');
  INSERT INTO customer SELECT i, CASE WHEN i % 2 = 0 THEN 'at' ELSE 'de' END FROM generate_series(1, 20) i;
  INSERT INTO orders SELECT i, 1 + i % 20 FROM generate_series(1, 100) i;
  CREATE ROLE reader LOGIN PASSWORD 'secret' NOSUPERUSER;
  ALTER ROLE reader SET default_transaction_read_only = on;
  GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
  CREATE ROLE writer LOGIN PASSWORD 'secret' NOCREATEDB`;

const TWO: SubsetSettings = { subset_tables: [{ table: 'public.customer', where: 'id IN (3, 5)' }] };
const PG_BASEBACKUP = await findServerPrograms(testContext({ settings: {} })).then(
  ({ bin }) => join(bin, 'pg_basebackup'),
  () => 'pg_basebackup',
);

describeWithPostgres(
  'a subset',
  () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startPostgres());
    let standby: Standby;

    beforeAll(async () => {
      await server.createDatabase('source');
      await server.psql('source', { sql: FILL });
      standby = await startStandby(server);
    }, 120_000);

    afterAll(async () => {
      await standby?.stop();
    });

    function contextFor(section: SubsetSettings) {
      const urls = { src_url: server.url('source'), dst_url: server.url('small') };
      return testContext({
        settings: { working_directory: folder.path, targets: { t: { subset: { ...urls, ...section } } } },
      });
    }

    function as(name: string, url: string): string {
      const changed = new URL(url);
      Object.assign(changed, { username: name, password: 'secret' });
      return changed.href;
    }

    it.each([
      ['a replica', () => standby.url('source')],
      ['a role that may only read', () => as('reader', server.url('source'))],
    ])('is planned, made and explained from %s', async (_, source) => {
      const context = contextFor({ ...TWO, src_url: source() });
      const planned = await planSubset(context, { target: 't', cpus: 2, count: true });
      expect(planned.plan.tables.map(({ table, rows_expected }) => [table, rows_expected])).toEqual([
        ['public.country', 1],
        ['public.customer', 2],
        ['public.orders', 10],
      ]);
      const { rows, proof } = await applySubset(context, planned);
      expect(rows).toBe(13);
      expect(proof.every(({ orphans }) => orphans === 0)).toBe(true);
      const { chain } = await explainSubset(context, { target: 't', row: 'public.orders:22' });
      expect(chain).toMatchObject([
        { table: 'public.orders', key: '22' },
        { table: 'public.customer', key: '3' },
      ]);
    });

    it('is refused before anything is touched where no database can be made beside the destination', async () => {
      await server.createDatabase('theirs', 'writer');
      await server.psql('theirs', { sql: 'CREATE TABLE kept (id integer)' });
      const before = { databases: await server.databases(), rows: await server.dump('theirs') };
      for (const database of ['theirs', 'not_there']) {
        const context = contextFor({ ...TWO, dst_url: as('writer', server.url(database)) });
        await expect(planSubset(context, { target: 't' })).rejects.toMatchObject({
          code: 'may_not_create',
          exit: 1,
          hint: expect.stringContaining('ALTER ROLE "writer" CREATEDB'),
        });
      }
      expect({ databases: await server.databases(), rows: await server.dump('theirs') }).toEqual(before);
    });
  },
  { files: PG_BASEBACKUP },
);
