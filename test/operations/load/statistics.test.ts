import { afterAll, beforeAll, expect, it } from 'vitest';
import { applyBranchCreate, planBranchCreate } from '../../../src/operations/branch/create/create.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { applyReset, planReset } from '../../../src/operations/reset/reset.ts';
import { applySanitize, planSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import { localRepository } from '../../../src/operations/snapshots/local-repository.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import type { LoadResult } from '../../../src/results/load-results.ts';
import { type AnyServer, startAnyServer, testedKinds } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

const POSTGRES = [
  'CREATE TABLE country (code char(2) PRIMARY KEY, name text NOT NULL)',
  "INSERT INTO country SELECT chr(65 + i / 26) || chr(65 + i % 26), 'country ' || i FROM generate_series(0, 99) i",
  'CREATE TABLE customer (id integer PRIMARY KEY, country char(2) NOT NULL REFERENCES country, email text NOT NULL, city text, zip text)',
  "INSERT INTO customer SELECT i, CASE WHEN i % 50 = 0 THEN 'BA' ELSE 'AA' END, 'Marked-' || i || '@example.com', 'city ' || i % 20, 'zip ' || i % 20 FROM generate_series(1, 6000) i",
  'CREATE INDEX ON customer (lower(email))',
  'CREATE STATISTICS customer_places (dependencies, ndistinct) ON city, zip FROM customer',
  'CREATE TABLE orders (id integer, customer_id integer NOT NULL, status text NOT NULL, at date NOT NULL, PRIMARY KEY (id, at)) PARTITION BY RANGE (at)',
  "CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM ('2026-01-01') TO ('2026-07-01')",
  "CREATE TABLE orders_2 PARTITION OF orders FOR VALUES FROM ('2026-07-01') TO ('2027-01-01')",
  "INSERT INTO orders SELECT i, 1 + i * 7 % 6000, CASE WHEN i % 100 = 0 THEN 'open' ELSE 'done' END, date '2026-01-01' + i % 365 FROM generate_series(1, 20000) i",
  'CREATE INDEX ON orders (customer_id)',
  'CREATE INDEX ON orders (status)',
  'CREATE TABLE item (id integer PRIMARY KEY, order_id integer NOT NULL, product integer NOT NULL)',
  'INSERT INTO item SELECT i, 1 + i % 20000, 1 + i % 30 FROM generate_series(1, 25000) i',
  'CREATE INDEX ON item (order_id)',
  'CREATE TABLE product (id integer PRIMARY KEY, name text NOT NULL)',
  "INSERT INTO product SELECT i, 'product ' || i FROM generate_series(1, 30) i",
  'CREATE MATERIALIZED VIEW sold AS SELECT p.id, p.name, count(*) AS amount FROM product p JOIN item i ON i.product = p.id GROUP BY 1, 2',
];

const MYSQL = [
  'CREATE TABLE numbers (n INT PRIMARY KEY)',
  'INSERT INTO numbers VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)',
  'CREATE TABLE country (code CHAR(2) PRIMARY KEY, name VARCHAR(20) NOT NULL)',
  "INSERT INTO country SELECT CONCAT(CHAR(65 + a.n USING ascii), CHAR(65 + b.n USING ascii)), CONCAT('country ', a.n, b.n) FROM numbers a, numbers b",
  'CREATE TABLE customer (id INT PRIMARY KEY, country CHAR(2) NOT NULL, email VARCHAR(60) NOT NULL, city VARCHAR(20), KEY (email), KEY (city), FOREIGN KEY (country) REFERENCES country (code))',
  "INSERT INTO customer SELECT i, IF(i % 50 = 0, 'BA', 'AA'), CONCAT('Marked-', i, '@example.com'), CONCAT('city ', i % 20) FROM (SELECT 1 + a.n + 10 * b.n + 100 * c.n + 1000 * d.n AS i FROM numbers a, numbers b, numbers c, numbers d) t",
  'CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT NOT NULL, status VARCHAR(10) NOT NULL, at DATE NOT NULL, KEY (status), FOREIGN KEY (customer_id) REFERENCES customer (id))',
  "INSERT INTO orders SELECT c.id * 2 + a.n, 1 + (c.id * 7) % 6000, IF(c.id % 100 = 0, 'open', 'done'), DATE '2026-01-01' + INTERVAL c.id % 365 DAY FROM customer c, numbers a WHERE a.n < 2",
  'CREATE TABLE product (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL)',
  "INSERT INTO product SELECT 1 + a.n + 10 * b.n, CONCAT('product ', a.n, b.n) FROM numbers a, numbers b WHERE b.n < 3",
  'CREATE TABLE item (id INT PRIMARY KEY, order_id INT NOT NULL, product INT NOT NULL, KEY (product), FOREIGN KEY (order_id) REFERENCES orders (id))',
  'INSERT INTO item SELECT id, id, 1 + id % 30 FROM orders',
  'CREATE TABLE dropped (secret INT PRIMARY KEY, other INT)',
  // So many that a second load exchanges rows instead of names.
  ...Array.from({ length: 50 }, (_, at) => [
    `CREATE TABLE small_${at} (id INT PRIMARY KEY, value INT, KEY (value))`,
    `INSERT INTO small_${at} SELECT n, n % 3 FROM numbers`,
  ]).flat(),
];

/** Histograms of the source, one on values that the sanitization replaces. */
const HISTOGRAMS: Record<'mysql' | 'mariadb', string[]> = {
  mysql: [
    'ANALYZE TABLE customer UPDATE HISTOGRAM ON email, country WITH 7 BUCKETS',
    'ANALYZE TABLE orders UPDATE HISTOGRAM ON at WITH 50 BUCKETS AUTO UPDATE',
    'ANALYZE TABLE small_3 UPDATE HISTOGRAM ON value WITH 3 BUCKETS',
    'ANALYZE TABLE dropped UPDATE HISTOGRAM ON other',
  ],
  mariadb: [
    'ANALYZE TABLE customer PERSISTENT FOR COLUMNS (email, country) INDEXES (email)',
    'ANALYZE TABLE small_3 PERSISTENT FOR COLUMNS (value) INDEXES ()',
    'ANALYZE TABLE dropped PERSISTENT FOR COLUMNS (other) INDEXES ()',
  ],
};

const HISTOGRAMS_AWAY: typeof HISTOGRAMS = {
  mysql: ['ANALYZE TABLE small_3 DROP HISTOGRAM ON value'],
  mariadb: ["DELETE FROM mysql.column_stats WHERE db_name = 'copy' AND table_name = 'small_3'"],
};

const QUERIES = [
  'SELECT * FROM orders o JOIN customer c ON c.id = o.customer_id WHERE o.status = {open}',
  'SELECT * FROM orders o JOIN customer c ON c.id = o.customer_id WHERE o.status = {done}',
  'SELECT * FROM customer c JOIN country n ON n.code = c.country WHERE c.country = {BA}',
  'SELECT * FROM customer c JOIN country n ON n.code = c.country WHERE c.country = {AA}',
  'SELECT * FROM item i JOIN orders o ON o.id = i.order_id JOIN customer c ON c.id = o.customer_id WHERE c.id = 7',
  'SELECT p.name, COUNT(*) FROM item i JOIN product p ON p.id = i.product GROUP BY p.name',
  'SELECT * FROM item i JOIN product p ON p.id = i.product WHERE p.id < 3',
  'SELECT * FROM customer c JOIN orders o ON o.customer_id = c.id WHERE c.city = {city 3} AND o.status = {open}',
  'SELECT * FROM customer a JOIN customer b ON a.city = b.city WHERE a.id = 3',
  'SELECT c.id FROM customer c WHERE EXISTS (SELECT 1 FROM orders o JOIN item i ON i.order_id = o.id WHERE o.customer_id = c.id AND i.product = 2)',
].map((query) => query.replaceAll(/\{([^}]*)\}/g, "'$1'"));

for (const kind of testedKinds('mysql')) {
  const isPostgres = kind === 'postgres';
  describeWithKind(kind, 'statistics', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      if (!isPostgres) await server.run('', ['SET GLOBAL innodb_stats_auto_recalc = OFF']);
      await server.create('source');
      await server.run('source', kind === 'postgres' ? POSTGRES : [...MYSQL, ...HISTOGRAMS[kind]]);
      await build(context(), { target: 'app' });
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    function context() {
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
      const emails = "UPDATE customer SET email = CONCAT('hidden-', id)";
      const override_query = `${emails}; DELETE FROM item; ${isPostgres ? 'REFRESH MATERIALIZED VIEW sold' : "UPDATE country SET name = 'x'; DROP TABLE dropped"}`;
      const sanitize = { dst_url: server.url('clean'), override_query };
      const customers = { table: `${server.prefix('source')}.customer`, where: 'id < 100' };
      const subset = { src_url: server.url('source'), dst_url: server.url('small'), subset_tables: [customers] };
      const targets = { app: { snapshot, sanitize, subset } };
      return testContext({ settings: { working_directory: folder.path, targets } });
    }

    async function load(request: Partial<LoadRequest> = {}): Promise<LoadResult> {
      const planned = await planLoad(context(), { target: 'app', original: true, ...request });
      return applyLoad(context(), planned);
    }

    /** The tables and columns with histograms, and those that have a value of the original in them. */
    async function histograms(database: string): Promise<Record<'all' | 'marked', string[]>> {
      const [text, from, marked] =
        kind === 'mysql'
          ? [
              `CONCAT(TABLE_NAME, '.', COLUMN_NAME, HISTOGRAM->'$."number-of-buckets-specified"', HISTOGRAM->'$."auto-update"')`,
              `information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = '${database}'`,
              `HISTOGRAM LIKE '%${Buffer.from('Marked').toString('base64')}%'`,
            ]
          : [
              "CONCAT(table_name, '.', column_name)",
              `mysql.column_stats WHERE db_name = '${database}'`,
              "min_value LIKE 'Marked%'",
            ];
      const select = (also = '') => server.column('', `SELECT ${text} FROM ${from}${also} ORDER BY 1`);
      return { all: await select(), marked: await select(` AND ${marked}`) };
    }

    /** Tables with rows of which the planner knows nothing, or another number of rows than there are. */
    async function unknownTables(database: string): Promise<string[]> {
      if (isPostgres) {
        return server.column(
          database,
          `SELECT relname FROM pg_class c WHERE relkind IN ('r', 'p', 'm') AND relnamespace = 'public'::regnamespace AND reltuples <> 0
            AND NOT EXISTS (SELECT FROM pg_statistic WHERE starelid = c.oid AND stainherit = (relkind = 'p'))
          UNION ALL SELECT i.indexrelid::regclass::text FROM pg_index i WHERE indexprs IS NOT NULL AND NOT EXISTS (SELECT FROM pg_statistic WHERE starelid = indexrelid)
          UNION ALL SELECT stxname FROM pg_statistic_ext WHERE NOT EXISTS (SELECT FROM pg_statistic_ext_data WHERE stxoid = oid)
          ORDER BY 1`,
        );
      }
      const tables = await server.column(
        database,
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' AND TABLE_NAME NOT LIKE 'tool-%' ORDER BY 1",
      );
      const unknown: string[] = [];
      for (const table of tables) {
        const [known = ''] = await server.column(
          '',
          `SELECT n_rows FROM mysql.innodb_table_stats WHERE database_name = '${database}' AND table_name = '${table}'`,
        );
        const [rows] = await server.column(database, `SELECT COUNT(*) FROM \`${table}\``);
        if (Math.abs(Number(known) - Number(rows)) > 0.3 * Number(rows)) unknown.push(`${table}: ${known} of ${rows}`);
      }
      return unknown;
    }

    async function plans(database: string): Promise<string[]> {
      if (isPostgres) {
        const all: string[] = [];
        for (const query of QUERIES)
          all.push((await server.column(database, `EXPLAIN (COSTS OFF) ${query}`)).join('\n'));
        return all;
      }
      const all: string[] = [];
      for (const query of QUERIES) {
        const [json = ''] = await server.column(database, `EXPLAIN FORMAT=JSON ${query}`);
        all.push(
          json.replaceAll(
            /"(?:\w*cost\w*|rows\w*|filtered|selectivity|\w*_per_\w*|loops|estimated_rows|data_read\w*|actual\w*)":\s*[^,}\n]*,?/g,
            '',
          ),
        );
      }
      return all;
    }

    async function analyzeByHand(database: string): Promise<void> {
      if (isPostgres) return server.run(database, ['ANALYZE']);
      const tables = await server.column(
        database,
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'",
      );
      await server.run(database, [`ANALYZE TABLE ${tables.join(', ')}`]);
    }

    it('are gathered by a load: ten joins have the plans that they have after a manual ANALYZE', async () => {
      await load();
      expect(await unknownTables('copy')).toEqual([]);
      const loaded = await plans('copy');
      if (!isPostgres) expect(await histograms('copy')).toEqual(await histograms('source'));
      await analyzeByHand('copy');
      expect(loaded).toEqual(await plans('copy'));
    }, 120_000);

    it('are there after a load that replaces tables without them, after a reset and in a branch', async () => {
      await server.run('copy', isPostgres ? [] : HISTOGRAMS_AWAY[kind]);
      await load({ keepBase: true });
      expect(await unknownTables('copy')).toEqual([]);
      if (!isPostgres) expect(await histograms('copy')).toEqual(await histograms('source'));
      await server.run('copy', ['DELETE FROM item']);
      await applyReset(context(), await planReset(context(), { target: 'app' }));
      expect(await unknownTables('copy')).toEqual([]);
      if (!isPostgres) expect(await histograms('copy')).toEqual(await histograms('source'));
      const created = await applyBranchCreate(
        context(),
        await planBranchCreate(context(), { target: 'app', name: 'feature' }),
      );
      const branch = created.branches[0]?.database ?? '';
      expect(await unknownTables(branch)).toEqual([]);
      if (!isPostgres) expect(await histograms(branch)).toEqual(await histograms('source'));
    }, 120_000);

    if (isPostgres) {
      it('are there after a load of the differences, and after one in place', async () => {
        await load({ keepBase: true });
        await server.run('source', [
          "UPDATE orders SET status = 'open' WHERE id % 3 = 0",
          "UPDATE customer SET country = 'BA' WHERE id % 2 = 0",
        ]);
        await build(context(), { target: 'app' });
        const { difference } = await load({ keepBase: true });
        expect(difference).toMatchObject({ method: 'difference' });
        const loaded = await plans('copy');
        expect(
          await server.column(
            'copy',
            "SELECT count(*) FROM pg_stats WHERE tablename = 'orders' AND attname = 'status' AND most_common_freqs[2] > 0.2",
          ),
        ).toEqual(['1']);
        await analyzeByHand('copy');
        expect(loaded).toEqual(await plans('copy'));
        await load({ inPlace: true });
        expect(await unknownTables('copy')).toEqual([]);
      }, 120_000);
    }

    if (!isPostgres) {
      it('are those of its rows in a subset', async () => {
        await applySubset(context(), await planSubset(context(), { target: 'app' }));
        expect(await unknownTables('small')).toEqual([]);
        expect(await histograms('small')).toEqual(await histograms('source'));
      }, 120_000);
    }

    it('contain no value of the original after a sanitization', async () => {
      await applySanitize(context(), await planSanitize(context(), { target: 'app', strict: false }));
      expect(await unknownTables('clean')).toEqual([]);
      await load({ original: false });
      expect(await unknownTables('copy')).toEqual([]);
      const snapshots = await localRepository(context()).list('app');
      const sanitized = snapshots.find((snapshot) => snapshot.sanitized);
      expect(sanitized?.tables.length).toBeGreaterThan(0);
      expect(JSON.stringify(sanitized)).not.toContain('dropped');
      const { all } = isPostgres ? { all: [] } : await histograms('source');
      const left = { all: all.filter((name) => !name.startsWith('dropped')), marked: [] };
      for (const database of ['clean', 'copy']) {
        const marked = isPostgres
          ? "SELECT count(*) FROM pg_statistic WHERE concat(stavalues1, stavalues2, stavalues3, stavalues4, stavalues5) ILIKE '%marked-%'"
          : "SELECT COUNT(*) FROM customer WHERE email LIKE 'Marked-%'";
        expect(await server.column(database, marked)).toEqual(['0']);
        if (!isPostgres) expect(await histograms(database)).toEqual(left);
      }
    }, 120_000);
  });
}
