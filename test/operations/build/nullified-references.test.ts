import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { type AnyServer, startAnyServer, testedKinds } from '../../helpers/databases/any-server.ts';
import { withDetails } from '../../helpers/databases/build-and-load.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

const FILL = [
  'CREATE TABLE tenant (id integer PRIMARY KEY)',
  'CREATE TABLE big (t integer, id integer UNIQUE, PRIMARY KEY (t, id))',
  // A column that becomes NULL is referenced itself, twice.
  'CREATE TABLE r (id integer PRIMARY KEY, b integer UNIQUE, FOREIGN KEY (b) REFERENCES big (id))',
  'CREATE TABLE s (id integer PRIMARY KEY, x integer UNIQUE, FOREIGN KEY (x) REFERENCES r (b))',
  'CREATE TABLE u (id integer PRIMARY KEY, y integer, FOREIGN KEY (y) REFERENCES s (x))',
  // A column of two keys.
  `CREATE TABLE doc (id integer PRIMARY KEY, t integer NOT NULL, b integer, f float,
    FOREIGN KEY (t) REFERENCES tenant (id), FOREIGN KEY (t, b) REFERENCES big (t, id))`,
  // Rows that reference nothing.
  'CREATE TABLE part (id integer PRIMARY KEY, t integer, b integer, FOREIGN KEY (t, b) REFERENCES big (t, id))',
  'INSERT INTO tenant VALUES (1)',
  ...['big (t, id)', 'r (id, b)', 's (id, x)', 'u (id, y)'].map((into) => `INSERT INTO ${into} VALUES (1, 1)`),
  'INSERT INTO doc VALUES (1, 1, 1, 0.1), (2, 1, NULL, 0.2)',
  'INSERT INTO part VALUES (1, 1, 1), (2, NULL, 7), (3, 1, NULL)',
];

async function builder(server: AnyServer, { database, big = 'big' }: { database: string; big?: string }) {
  const folder = await temporaryFolder();
  const snapshot = { src_url: server.url(database), dst_url: server.url(`${database}_copy`), nullify: true };
  const excluding = { ...snapshot, exclude_rows: [`${server.prefix(database)}.${big}`] };
  const context = testContext({
    settings: { working_directory: join(folder.path, 'work'), targets: { app: { snapshot: excluding } } },
  });
  return {
    context,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    load: async () =>
      withDetails(planLoad(context, { target: 'app', cpus: 2 }).then((plan) => applyLoad(context, plan))),
  };
}

for (const kind of testedKinds('mysql')) {
  describeWithKind(kind, 'references that become NULL', () => {
    let server: AnyServer;

    beforeAll(async () => {
      server = await startAnyServer(kind);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
    });

    it('are followed, and change only rows that reference something, in columns that no other key needs', async () => {
      await server.create('source');
      await server.run('source', FILL);
      await using app = await builder(server, { database: 'source' });
      const { excluded_rows } = await build(app.context, { target: 'app' });
      const found = excluded_rows?.nullified.map(({ table, columns, references, rows }) =>
        [table, columns, references, rows].join(' ').replaceAll(`${server.prefix('source')}.`, ''),
      );
      expect(found?.toSorted()).toEqual(['doc b big 1', 'part b big 1', 'r b big 1', 's x r 1', 'u y s 1']);
      await app.load();
      const rows = (table: string, columns: string) =>
        server.column('source_copy', `SELECT CONCAT_WS(' ', ${columns}) FROM ${table} ORDER BY id`);
      expect(await rows('r', "id, coalesce(b, '0')")).toEqual(['1 0']);
      expect(await rows('u', "id, coalesce(y, '0')")).toEqual(['1 0']);
      expect(await rows('doc', "id, t, coalesce(b, '0'), f")).toEqual(['1 1 0 0.1', '2 1 0 0.2']);
      expect(await rows('part', "id, coalesce(t, '0'), coalesce(b, '0')")).toEqual(['1 1 0', '2 0 7', '3 1 0']);
    }, 120_000);

    it('are refused where a check or a generated column cannot be without them', async () => {
      await server.create('strict');
      await server.run('strict', [
        'CREATE TABLE big (id integer PRIMARY KEY)',
        'CREATE TABLE c (id integer PRIMARY KEY, b integer, CONSTRAINT chk CHECK (b IS NOT NULL OR id > 5), FOREIGN KEY (b) REFERENCES big (id))',
        'CREATE TABLE r (id integer PRIMARY KEY, b integer UNIQUE, FOREIGN KEY (b) REFERENCES big (id))',
        'CREATE TABLE s (id integer PRIMARY KEY, x integer NOT NULL, FOREIGN KEY (x) REFERENCES r (b))',
        ...(kind === 'mariadb'
          ? []
          : [
              'CREATE TABLE g (id integer PRIMARY KEY, b integer, n integer GENERATED ALWAYS AS (b * 2) STORED NOT NULL, FOREIGN KEY (b) REFERENCES big (id))',
            ]),
      ]);
      await using app = await builder(server, { database: 'strict' });
      const { details = [] } = await build(app.context, { target: 'app' }).catch((error) => error);
      const lines = details.map((line: string) =>
        line.replaceAll(`${server.prefix('strict')}.`, '').replace(/foreign key \w+/, 'key'),
      );
      expect(lines.toSorted()).toEqual([
        'c (b) → big: key; b cannot be NULL (check constraint chk)',
        ...(kind === 'mariadb' ? [] : ['g (b) → big: key; b cannot be NULL (generated column n)']),
        's (x) → r: key; b of r becomes NULL; x cannot be NULL',
      ]);
    }, 120_000);
  });
}

describeWithKind('postgres', 'references that PostgreSQL could not load as NULL', () => {
  let server: AnyServer;

  beforeAll(async () => {
    server = await startAnyServer('postgres');
  }, 240_000);

  afterAll(async () => {
    await server?.stop();
  });

  it('are refused, with the reason', async () => {
    await server.create('source');
    await server.run('source', [
      'CREATE TABLE big (id integer PRIMARY KEY, t integer, UNIQUE (t, id))',
      'CREATE DOMAIN number AS integer CHECK (VALUE IS NOT NULL)',
      'CREATE TABLE a_domain (b number REFERENCES big)',
      'CREATE TABLE b_distinct (b integer UNIQUE NULLS NOT DISTINCT REFERENCES big)',
      'CREATE TABLE c_part (b integer REFERENCES big) PARTITION BY LIST ((b % 2))',
      'CREATE TABLE c_part_1 PARTITION OF c_part DEFAULT',
      'CREATE TABLE d_unique (mail text, b integer REFERENCES big)',
      'CREATE UNIQUE INDEX d_current ON d_unique (mail) WHERE b IS NULL',
      'CREATE TABLE e_fine (b integer REFERENCES big)',
      'CREATE UNIQUE INDEX e_known ON e_fine (b) WHERE b IS NOT NULL',
      'CREATE TABLE f_full (t integer NOT NULL, b integer, FOREIGN KEY (t, b) REFERENCES big (t, id) MATCH FULL)',
    ]);
    await using app = await builder(server, { database: 'source' });
    const { details = [] } = await build(app.context, { target: 'app' }).catch((error) => error);
    expect(details.map((line: string) => line.replace(/ \(.*; /, ': ')).toSorted()).toEqual([
      'public.a_domain: b cannot be NULL (domain public.number)',
      'public.b_distinct: b cannot be NULL (unique index b_distinct_b_key)',
      'public.c_part_1: b cannot be NULL (partition key)',
      'public.d_unique: b cannot be NULL (unique index d_current)',
      'public.f_full: t cannot be NULL',
    ]);
  }, 120_000);

  it('are refused where only some partitions are excluded', async () => {
    await server.create('parted');
    await server.run('parted', [
      'CREATE TABLE big (id integer PRIMARY KEY) PARTITION BY RANGE (id)',
      'CREATE TABLE big_1 PARTITION OF big FOR VALUES FROM (0) TO (10)',
      'CREATE TABLE big_2 PARTITION OF big FOR VALUES FROM (10) TO (20)',
      'CREATE TABLE r (b integer REFERENCES big)',
    ]);
    await using app = await builder(server, { database: 'parted', big: 'big_1' });
    await expect(build(app.context, { target: 'app' })).rejects.toMatchObject({
      code: 'excluded_rows_referenced',
      details: ['public.r (b) → public.big_1: foreign key r_b_fkey; other partitions keep their rows'],
      hint: expect.stringContaining('Exclude the whole partitioned table or none of its partitions'),
    });
  }, 120_000);
});
