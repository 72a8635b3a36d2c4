import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalRepository } from '../../../src/repository/local-repository.ts';
import type { Manifest } from '../../../src/repository/manifest/manifest.ts';
import { createObjectPool } from '../../../src/repository/objects/object-pool.ts';
import { filesOf } from '../../../src/repository/repository.ts';
import { startInside } from '../../helpers/postgres/debian-postgres.ts';
import { canHaveSid, type DebianTree, debianTree } from '../../helpers/postgres/debian-tree.ts';
import { startPostgres } from '../../helpers/postgres/postgres-server.ts';
import { forgeSnapshot } from '../../helpers/storage/forged-snapshot.ts';

const MAIN = new URL('../../../src/main.ts', import.meta.url).pathname;
const FILE = 'statistics.json';

/** Tables from 256 kB on, and why the statistics of some of them are not taken over. */
const ROWS = [
  'CREATE TABLE country (code char(2) PRIMARY KEY, name text NOT NULL)',
  "INSERT INTO country SELECT chr(65 + i / 26) || chr(65 + i % 26), 'country ' || i FROM generate_series(0, 99) i",
  `CREATE TABLE customer (id integer PRIMARY KEY, country char(2) NOT NULL REFERENCES country, email text NOT NULL, city text,
    tags text[] NOT NULL, during int4range, seen timestamptz NOT NULL, twice integer GENERATED ALWAYS AS (id * 2))`,
  `INSERT INTO customer SELECT i, CASE WHEN i % 50 = 0 THEN 'BA' ELSE 'AA' END, CASE WHEN i % 3 = 0 THEN 'Marked-common@example.com' ELSE 'Marked-' || i || '@example.com' END,
    'O''Brien\\' || chr(10) || '"city" ' || i % 20, ARRAY['tag ' || i % 7, 'all'], int4range(i, i + 9), '2026-01-01Z'::timestamptz + i * interval '1 hour' FROM generate_series(1, 9000) i`,
  'CREATE INDEX ON customer (lower(email))',
  'CREATE INDEX ON customer (country)',
  'CREATE TABLE item (order_id integer NOT NULL, product integer NOT NULL)',
  'INSERT INTO item SELECT 1 + i % 20000, 1 + i % 30 FROM generate_series(1, 25000) i',
  'CREATE TABLE product (id integer PRIMARY KEY, name text NOT NULL)',
  "INSERT INTO product SELECT i, 'product ' || i FROM generate_series(1, 30) i",
  'CREATE TABLE orders (id integer, customer_id integer NOT NULL, status text NOT NULL, at date NOT NULL, PRIMARY KEY (id, at)) PARTITION BY RANGE (at)',
  "CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM ('2026-01-01') TO ('2026-07-01')",
  "CREATE TABLE orders_2 PARTITION OF orders FOR VALUES FROM ('2026-07-01') TO ('2027-01-01')",
  "INSERT INTO orders SELECT i, 1 + i * 7 % 6000, CASE WHEN i % 100 = 0 THEN 'open' ELSE 'done' END, date '2026-01-01' + i % 365 FROM generate_series(1, 20000) i",
  'CREATE INDEX ON orders (customer_id)',
  ...['extended', 'never', 'partly', 'stale', 'excluded', 'parent'].flatMap((name) => [
    `CREATE TABLE ${name} (id integer PRIMARY KEY, other integer, text text NOT NULL)`,
    `INSERT INTO ${name} SELECT i, i % 9, 'Marked-' || md5(i::text) FROM generate_series(1, 6000) i`,
  ]),
  'CREATE TABLE child () INHERITS (parent)',
  'CREATE STATISTICS places (dependencies) ON id, other FROM extended',
  'CREATE MATERIALIZED VIEW sold AS SELECT p.id, p.name, count(*) AS amount FROM product p JOIN item i ON i.product = p.id GROUP BY 1, 2',
];
/** Each in a transaction of its own, as the server counts what changed since. */
const ANALYZED = [
  'ANALYZE country, customer, item, product, orders, extended, stale, excluded, parent, sold',
  'ANALYZE partly (id, other)',
  'UPDATE stale SET other = other + 1 WHERE id % 2 = 0',
];
const TAKEN = ['customer', 'item'];

const QUERIES = [
  "SELECT * FROM orders o JOIN customer c ON c.id = o.customer_id WHERE o.status = 'open'",
  "SELECT * FROM orders o JOIN customer c ON c.id = o.customer_id WHERE o.status = 'done'",
  "SELECT * FROM customer c JOIN country n ON n.code = c.country WHERE c.country = 'BA'",
  "SELECT * FROM customer c JOIN country n ON n.code = c.country WHERE c.country = 'AA'",
  "SELECT * FROM customer c JOIN orders o ON o.customer_id = c.id WHERE lower(c.email) = 'marked-common@example.com'",
  "SELECT * FROM customer c JOIN orders o ON o.customer_id = c.id WHERE lower(c.email) = 'marked-7@example.com'",
  'SELECT p.name, COUNT(*) FROM item i JOIN product p ON p.id = i.product GROUP BY p.name',
  'SELECT * FROM item i JOIN product p ON p.id = i.product WHERE p.id < 3',
  "SELECT * FROM customer c JOIN country n ON n.code = c.country WHERE c.tags @> ARRAY['tag 3']",
  'SELECT * FROM customer a JOIN customer b ON a.city = b.city WHERE a.during && int4range(5, 7)',
];

const STATISTICS = `SELECT schemaname, tablename, attname, null_frac, avg_width, n_distinct, most_common_vals::text, most_common_freqs,
  histogram_bounds::text, correlation, most_common_elems::text, elem_count_histogram, range_length_histogram::text, range_bounds_histogram::text
  FROM pg_stats WHERE schemaname = 'public' AND (tablename IN ('customer', 'item') OR tablename LIKE 'customer_lower%') ORDER BY 1, 2, 3`;

describe.skipIf(!canHaveSid).each([
  { suite: 'sid', major: 18 },
  { suite: 'sid+experimental', major: 19 },
])('statistics of PostgreSQL $major', ({ suite, major }) => {
  let debian: DebianTree;
  let server: Awaited<ReturnType<typeof startInside>>;
  let folder: string;
  let inside: string;

  beforeAll(async () => {
    debian = await debianTree(suite, [`postgresql-${major}`, 'procps']);
    server = await startInside(debian, major);
    folder = await mkdtemp(join(debian.root, 'tmp/tool-'));
    inside = folder.slice(debian.root.length);
    await mkdir(join(folder, 'work'));
    const shop = {
      snapshot: { src_url: server.url('shop'), dst_url: server.url('copy'), exclude_rows: ['public.excluded'] },
      sanitize: { query_file: `${inside}/query.sql`, dst_url: server.url('clean') },
      subset: {
        src_url: server.url('shop'),
        dst_url: server.url('small'),
        subset_tables: [{ table: 'public.customer', where: 'id < 8000' }],
      },
    };
    const text = { secret_key: 'ab'.repeat(16), working_directory: `${inside}/work`, targets: { shop } };
    await writeFile(join(folder, 'tool.yml'), JSON.stringify(text), { mode: 0o600 });
    const tables = ['extended', 'never', 'partly', 'stale', 'parent'];
    const texts = tables.map((table) => `UPDATE ${table} SET text = 'hidden-' || id`);
    const query = ["UPDATE customer SET email = 'hidden-' || id", ...texts].join(';\n');
    await writeFile(join(folder, 'query.sql'), query);
    await server.psql('postgres', 'ALTER SYSTEM SET autovacuum = off');
    await server.psql('postgres', 'SELECT pg_reload_conf()');
    await server.psql('postgres', 'CREATE DATABASE shop');
    for (const statement of [ROWS.join(';\n'), ...ANALYZED]) await server.psql('shop', statement);
    await tool('build shop --no-sanitize');
  }, 300_000);

  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    if (folder) await rm(folder, { recursive: true });
  });

  async function tool(words: string, config = 'tool.yml'): Promise<string> {
    const { exit, output } = await debian.shell(`node ${MAIN} --config ${inside}/${config} --yes ${words}`);
    expect(exit, output).toBe(0);
    return output;
  }

  const repository = () => createLocalRepository({ directory: join(folder, 'work'), report: () => {} });

  async function newest(): Promise<Manifest> {
    const [manifest] = await repository().list('shop');
    if (!manifest) throw new Error('no snapshot');
    return manifest;
  }

  /** All that a snapshot stores. */
  async function contentOf(manifest: Manifest, only?: string): Promise<string> {
    const pool = createObjectPool(1);
    const files = filesOf(manifest).filter(({ name }) => only === undefined || name === only);
    const contents: Buffer[] = [];
    for (const file of files) contents.push(await buffer(pool.read(repository().object(file))));
    await pool[Symbol.asyncDispose]();
    return Buffer.concat(contents).toString('latin1');
  }

  const column = async (database: string, query: string): Promise<string[]> =>
    (await server.psql(database, query)).trimEnd().split('\n');

  const notAnalyzed = (database: string): Promise<string[]> =>
    column(database, 'SELECT relname FROM pg_stat_user_tables WHERE analyze_count = 0 ORDER BY 1');

  async function plans(database: string): Promise<string[]> {
    const all: string[] = [];
    for (const query of QUERIES) all.push(await server.psql(database, `EXPLAIN (COSTS OFF) ${query}`));
    return all;
  }

  it('are taken over by a load where they are complete; ten joins have the plans that they have after ANALYZE', async () => {
    for (const words of ['load shop', 'load shop --in-place']) {
      await tool(words);
      expect(await notAnalyzed('copy'), words).toEqual(TAKEN);
      expect(await server.psql('copy', STATISTICS), words).toBe(await server.psql('shop', STATISTICS));
      const pages = `SELECT relname, reltuples, relpages = pg_relation_size(oid) / 8192 FROM pg_class WHERE relname IN ('customer', 'item') ORDER BY 1`;
      expect(await column('copy', pages), words).toEqual(['customer|9000|t', 'item|25000|t']);
      const loaded = await plans('copy');
      await server.psql('copy', 'ANALYZE');
      expect(loaded, words).toEqual(await plans('copy'));
    }
  }, 120_000);

  it('are stored only of tables with complete and recent ones that have all of their rows', async () => {
    const original = await newest();
    const stored = (await contentOf(original, FILE)).split('\n').filter((line) => line.startsWith('{'));
    expect(stored.map((line) => JSON.parse(line).table)).toEqual(TAKEN);
    await tool('build shop --no-sanitize');
    expect((await newest()).files).toEqual(original.files);
    // A save of the destination has those of the destination.
    await tool('save shop now');
    const [save] = await repository().listSaves('shop');
    expect(save?.files.map(({ name }) => name)).toContain(FILE);
    await tool('load shop --original --tables public.customer,public.country');
    expect(await notAnalyzed('copy')).toContain('customer');
  }, 120_000);

  it('stay after steps that change other tables, and are gathered of those that steps change', async () => {
    const steps = [{ command: 'psql "$DATABASE_URL" -c "DELETE FROM item WHERE order_id < 5000"' }];
    const config = JSON.parse(await readFile(join(folder, 'tool.yml'), 'utf8'));
    config.targets.shop.snapshot.after_load = steps;
    await writeFile(join(folder, 'steps.yml'), JSON.stringify(config), { mode: 0o600 });
    await tool('load shop --original', 'steps.yml');
    expect(await notAnalyzed('copy')).toEqual(['customer']);
    expect(await column('copy', "SELECT reltuples < 20000 FROM pg_class WHERE relname = 'item'")).toEqual(['t']);
  }, 120_000);

  it('are gathered for a sanitized snapshot or a subset: no value of the original is in them or in stored files', async () => {
    const original = await newest();
    expect(await contentOf(original, FILE)).toContain('Marked-');
    await tool('sanitize shop');
    // It has the time of its original.
    const sanitized = (await repository().list('shop')).find((one) => one.sanitized);
    if (!sanitized) throw new Error('no sanitized snapshot');
    expect((await contentOf(sanitized)).toLowerCase()).not.toContain('marked-');
    await tool('load shop');
    for (const database of ['clean', 'copy']) {
      expect(await notAnalyzed(database), database).toEqual(['']);
      const marked = `SELECT count(*) FROM pg_statistic WHERE concat(stavalues1, stavalues2, stavalues3, stavalues4, stavalues5) ILIKE '%marked-%'`;
      expect(await column(database, marked), database).toEqual(['0']);
    }
    await tool('subset shop --snapshot');
    const subset = await newest();
    expect(subset.tables.find(({ name }) => name === 'public.customer')?.rows).toBe(7999);
    expect(subset.files.map(({ name }) => name)).not.toContain(FILE);
    expect((await contentOf(subset)).includes('Marked-8999@')).toBe(false);
    expect(
      await column(
        'small',
        "SELECT count(*) FROM pg_statistic WHERE concat(stavalues1, stavalues2) LIKE '%Marked-8999@%'",
      ),
    ).toEqual(['0']);
    // One that claims to have them, with the original's file.
    const file = original.files.find(({ name }) => name === FILE);
    if (!file) throw new Error('no statistics');
    const { signature: _, ...rest } = sanitized;
    await forgeSnapshot({
      directory: join(folder, 'work'),
      manifest: { ...rest, files: [...rest.files, file] },
      id: '000000aa',
    });
    await tool('load shop 000000aa');
    expect(await notAnalyzed('copy')).toEqual(['']);
  }, 120_000);

  it('are gathered anew where somebody else wrote them; they change no other table and run no statement', async () => {
    const directory = join(folder, 'work');
    const originals = (await repository().list('shop')).filter(
      ({ files, sanitized }) => !sanitized && files.some(({ name }) => name === FILE),
    );
    const manifest = originals[0];
    if (!manifest) throw new Error('no original');
    const [customer = '', item = ''] = (await contentOf(manifest, FILE)).split('\n');
    const injection = "x'); DROP TABLE customer; SELECT pg_sleep('9'); --";
    const texts: { id: string; text: string }[] = [
      {
        id: '000000b1',
        text: `${customer.replaceAll('"customer"', '"country"')}\n${item.replace('"public"', '"pg_catalog"').replaceAll('"item"', '"pg_class"')}\n`,
      },
      {
        id: '000000b2',
        text: `${customer.replace('"relation":"customer","column":"city"', `"relation":"item","column":"product"`)}\n${item.replace('"product"', JSON.stringify(injection))}\n`,
      },
      {
        id: '000000b3',
        text: `${customer.replace('"null_frac":0', '"null_frac":"0"')}\n${item.replace(/"most_common_vals":"[^"]*"/, `"most_common_vals":${JSON.stringify(injection)}`)}\n`,
      },
      { id: '000000b4', text: `not JSON\n{"schema":"public"}\n[]\n${'['.repeat(5000)}\n` },
      {
        id: '000000b5',
        text: `${customer.replace(/"most_common_freqs":\[[^\]]*\]/, '"most_common_freqs":[1e300, -7]')}\n${item.replace(/"avg_width":\d+/, '"avg_width":9e99')}\n`,
      },
    ];
    for (const { id, text } of texts) {
      await forgeSnapshot({ directory, manifest, id, files: { [FILE]: text } });
      await tool(`load shop ${id}`);
      expect(await notAnalyzed('copy'), id).toEqual(['']);
      expect(await column('copy', 'SELECT count(*) FROM customer'), id).toEqual(['9000']);
    }
  }, 180_000);

  it('are gathered by a server that does not take them over', async () => {
    // A virtual column, which an older server does not know.
    await server.psql('shop', 'ALTER TABLE customer DROP COLUMN twice');
    await tool('build shop --no-sanitize');
    expect((await newest()).files.map(({ name }) => name)).toContain(FILE);
    const here = await startPostgres();
    try {
      await tool(`load shop --original --destdb ${here.url('copy')}`);
      const analyzed =
        "SELECT count(*) FILTER (WHERE analyze_count > 0), count(*) FROM pg_stat_user_tables WHERE relname IN ('customer', 'item')";
      expect(await here.psql('copy', { sql: analyzed })).toBe('2|2\n');
    } finally {
      await here.stop();
    }
  }, 120_000);
});
