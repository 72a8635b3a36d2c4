import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { quoteName, quoteText } from '../../../src/engines/postgres/connection/quote.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { removeOwnServers } from '../../../src/operations/servers/records.ts';
import { serverUrl } from '../../../src/operations/servers/up/text.ts';
import { applyUp, planUp } from '../../../src/operations/servers/up/up.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import {
  describeWithPostgres,
  dumpAt,
  psqlAt,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';

const SOURCE = `
  CREATE TABLE customer (id integer PRIMARY KEY, name text NOT NULL, region integer NOT NULL, note text);
  CREATE TABLE item (id integer PRIMARY KEY, price numeric NOT NULL);
  CREATE TABLE purchase (id integer PRIMARY KEY, customer integer NOT NULL REFERENCES customer, item integer NOT NULL
    REFERENCES item, at timestamp NOT NULL, amount integer NOT NULL, paid boolean NOT NULL);
  INSERT INTO customer SELECT i, 'customer ' || md5(i::text), i % 20, repeat('note ', i % 7) FROM generate_series(1, 3000) i;
  INSERT INTO item SELECT i, i * 1.5 FROM generate_series(1, 200) i;
  INSERT INTO purchase SELECT i, i * 7 % 3000 + 1, i * 13 % 200 + 1, timestamp '2026-01-01' + i * interval '1 hour',
    i % 9, i % 50 > 0 FROM generate_series(1, 25000) i;
  CREATE INDEX customer_name ON customer (lower(name));
  CREATE INDEX customer_region ON customer (region);
  CREATE INDEX purchase_customer ON purchase (customer);
  CREATE INDEX purchase_at ON purchase (at);
  CREATE INDEX purchase_unpaid ON purchase (item) WHERE NOT paid;
  CREATE STATISTICS purchase_amounts (dependencies) ON amount, paid FROM purchase;
  ANALYZE`;

const QUERIES = [
  'SELECT * FROM customer WHERE id = 42',
  "SELECT id FROM customer WHERE lower(name) = 'customer 42'",
  'SELECT count(*) FROM customer WHERE region IN (3, 4)',
  'SELECT max(id) FROM purchase',
  "SELECT * FROM purchase WHERE at BETWEEN '2026-02-01' AND '2026-02-03' ORDER BY at",
  'SELECT item FROM purchase WHERE NOT paid AND item < 20',
  'SELECT c.name, sum(p.amount) FROM customer c JOIN purchase p ON p.customer = c.id GROUP BY c.name',
  'SELECT * FROM purchase p JOIN item i ON i.id = p.item JOIN customer c ON c.id = p.customer WHERE c.region = 5',
  'SELECT DISTINCT ON (customer) customer, at FROM purchase ORDER BY customer, at DESC',
  'SELECT c.id FROM customer c WHERE NOT EXISTS (SELECT FROM purchase p WHERE p.customer = c.id AND p.amount = 0) LIMIT 10',
];

/** What the choice of a plan depends on, apart from the content. */
const SETTINGS = `SELECT name, current_setting(name) AS value FROM pg_settings
  WHERE category LIKE 'Query Tuning%' OR name IN ('work_mem', 'hash_mem_multiplier', 'max_parallel_workers',
    'max_parallel_workers_per_gather', 'jit') ORDER BY 1`;

describeWithPostgres('a server on an image', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let settings: Partial<Settings>;
  let started = '';
  let loaded = '';

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
    await server.createDatabase('shop');
    await server.psql('shop', { sql: SOURCE });
    const snapshot = { src_url: server.url('shop'), dst_url: server.url('loaded') };
    settings = { working_directory: join(folder.path, 'work'), targets: { shop: { snapshot } } };
    await build(testContext({ settings }), { target: 'shop' });
    const events: RunEvent[] = [];
    const context = testContext({ settings, events });
    await applyUp(context, await planUp(context, { target: 'shop', session: true }));
    started = events.flatMap((one) => (one.event === 'server' ? [serverUrl(one)] : [])).join();
    await applyLoad(testContext({ settings }), await planLoad(testContext({ settings }), { target: 'shop' }));
    loaded = server.url('loaded');
  }, 240_000);

  afterAll(async () => {
    await removeOwnServers(testContext({ settings }));
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  const read = async <Row>(url: string, query: string): Promise<Row[]> =>
    JSON.parse(await psqlAt(url, { sql: `SELECT coalesce(json_agg(t), '[]') FROM (${query}) t` }));

  it('has the dump and the checksums of an ordinary load of the snapshot', async () => {
    expect(await dumpAt(started)).toBe(await dumpAt(loaded));
    for (const table of ['customer', 'item', 'purchase']) {
      const query = `SELECT md5(string_agg(t::text, E'\\n' ORDER BY id)) AS checksum FROM ${table} t`;
      expect(await read(started, query), table).toEqual(await read(loaded, query));
    }
  });

  it('plans ten queries as an ordinary load does, with equal settings and after its first VACUUM', async () => {
    // An image is vacuumed. Before, it alone would scan an index only; the statistics are those of the load.
    await psqlAt(loaded, { sql: 'VACUUM' });
    const equal = (await read<{ name: string; value: string }>(started, SETTINGS))
      .map(({ name, value }) => `SET ${quoteName(name)} = ${quoteText(value)};`)
      .join('\n');
    const plan = (url: string, query: string): Promise<string> =>
      psqlAt(url, { sql: `${equal}\nEXPLAIN (COSTS OFF) ${query}` });
    expect(QUERIES).toHaveLength(10);
    const kinds = new Set<string>();
    for (const query of QUERIES) {
      const own = await plan(started, query);
      expect(own, query).toBe(await plan(loaded, query));
      for (const [kind] of own.matchAll(/(?:Seq|Index|Index Only|Bitmap Heap) Scan|(?:Hash|Nested|Merge) \S+/g))
        kinds.add(kind);
    }
    // Otherwise the queries would tell nothing.
    expect(kinds.size).toBeGreaterThan(4);
  });
});
