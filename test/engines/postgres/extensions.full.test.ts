import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startInside } from '../../helpers/postgres/debian-postgres.ts';
import { canHaveSid, type DebianTree, debianTree } from '../../helpers/postgres/debian-tree.ts';

const MAIN = new URL('../../../src/main.ts', import.meta.url).pathname;
const lacking = canHaveSid ? '' : ' (needs root and debootstrap)';
const MAJOR = 17;
const PACKAGES = [
  ...[`postgresql-${MAJOR}`, `postgresql-${MAJOR}-postgis-3`, `postgresql-${MAJOR}-pgvector`],
  ...[`postgresql-${MAJOR}-partman`, 'procps'],
];

const POSTGIS = `
  CREATE EXTENSION postgis; CREATE EXTENSION postgis_topology;
  INSERT INTO spatial_ref_sys (srid, auth_name, auth_srid, srtext, proj4text) VALUES (990001, 'own', 1, 'LOCAL_CS["own"]', '+proj=longlat');
  CREATE TABLE place (id integer PRIMARY KEY, name text, at geometry(Point, 4326), own geometry(Point, 990001), area geography(Polygon));
  INSERT INTO place SELECT n, 'place ' || n, st_setsrid(st_point(n % 180, n % 90), 4326), st_setsrid(st_point(n, n), 990001),
    'POLYGON((0 0, 0 1, 1 1, 0 0))' FROM generate_series(1, 2000) n;
  CREATE INDEX place_at ON place USING gist (at);
  CREATE VIEW near AS SELECT id FROM place WHERE st_dwithin(at, st_setsrid(st_point(0, 0), 4326), 5);
  SELECT topology.createtopology('town', 4326);
  CREATE TABLE visit (id integer PRIMARY KEY, place integer REFERENCES place); INSERT INTO visit SELECT n, n FROM generate_series(1, 500) n`;

const VECTOR = `
  CREATE EXTENSION vector;
  CREATE TABLE item (id integer PRIMARY KEY, name text, embedding vector(3), short halfvec(3), bits bit(3), sparse sparsevec(5));
  INSERT INTO item SELECT n, 'item ' || n, ARRAY[n, n % 7, n % 11]::vector, ARRAY[n % 5, 1, 2]::halfvec, '101', '{1:1,3:2}/5' FROM generate_series(1, 2000) n;
  CREATE INDEX item_hnsw ON item USING hnsw (embedding vector_l2_ops); CREATE INDEX item_ivf ON item USING ivfflat (embedding vector_cosine_ops) WITH (lists = 10);
  CREATE TABLE basket (id integer PRIMARY KEY, item integer REFERENCES item); INSERT INTO basket SELECT n, n FROM generate_series(1, 500) n`;

const PARTMAN = `
  CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman;
  CREATE TABLE event (id bigint GENERATED ALWAYS AS IDENTITY, at timestamptz NOT NULL, name text) PARTITION BY RANGE (at);
  SELECT partman.create_parent(p_parent_table := 'public.event', p_control := 'at', p_interval := '1 month', p_premake := 2);
  UPDATE partman.part_config SET retention = '12 months', retention_keep_table = false;
  INSERT INTO event (at, name) SELECT now() - n * interval '1 hour', 'event ' || n FROM generate_series(1, 500) n`;

/** What must be the same in a copy: rows that users added to tables of the extension, and answers of its functions. */
const ANSWERS: Record<string, string[]> = {
  postgis: [
    'SELECT srtext FROM spatial_ref_sys WHERE srid = 990001',
    'SELECT count(*) FROM spatial_ref_sys',
    'SELECT name FROM topology.topology',
    'SELECT count(*), st_extent(at), st_srid(st_collect(own)), sum(st_area(area)) FROM place',
    'SELECT count(*) FROM near',
  ],
  vector: [
    "SELECT string_agg(id::text, ' ') FROM (SELECT id FROM item ORDER BY embedding <-> '[100,2,1]', id LIMIT 5) i",
    'SELECT count(*), sum(embedding), sum(short) FROM item',
    "SELECT string_agg(indexdef, ';' ORDER BY indexdef) FROM pg_indexes WHERE tablename = 'item'",
  ],
  partman: [
    'SELECT parent_table, control, partition_interval, premake, retention, retention_keep_table FROM partman.part_config',
    'SELECT count(*), min(name) FROM event',
    "SELECT string_agg(inhrelid::regclass::text, ' ' ORDER BY inhrelid::regclass::text) FROM pg_inherits WHERE inhparent = 'event'::regclass",
  ],
};

/** What must be the same in a subset: definitions, and some rows. Rows of the extension's tables are not in it. */
const SMALL: Record<string, string> = {
  postgis: 'SELECT count(*) > 0, max(st_srid(own)), max(st_srid(at)) FROM place',
  vector: "SELECT string_agg(indexdef, ';' ORDER BY indexdef) FROM pg_indexes WHERE tablename = 'item'",
  partman: "SELECT (SELECT count(*) > 0 FROM event), count(*) FROM pg_inherits WHERE inhparent = 'event'::regclass",
};

const KINDS = [
  {
    name: 'postgis',
    sql: POSTGIS,
    schemas: ['public', 'town', 'topology'],
    start: 'public.visit',
    clear: 'UPDATE place SET name = md5(name)',
  },
  {
    name: 'vector',
    sql: VECTOR,
    schemas: ['public'],
    start: 'public.basket',
    clear: 'UPDATE item SET name = md5(name)',
  },
  {
    name: 'partman',
    sql: PARTMAN,
    schemas: ['public', 'partman'],
    start: 'public.event',
    clear: 'UPDATE event SET name = md5(name)',
  },
];

describe.skipIf(!canHaveSid)(`extensions of Debian's trixie${lacking}`, () => {
  let debian: DebianTree;
  let server: Awaited<ReturnType<typeof startInside>>;
  let folder: string;
  let inside: string;

  const tool = async (words: string): Promise<string> => {
    const { exit, output } = await debian.shell(`cd ${inside} && node ${MAIN} --config tool.yml --yes ${words}`);
    expect(output, words).not.toMatch(/^error/m);
    expect(exit, output).toBe(0);
    return output;
  };

  const answersOf = async (name: string, database: string): Promise<string[]> => {
    const answers: string[] = [];
    for (const query of ANSWERS[name] ?? []) answers.push(await server.psql(database, query));
    return answers;
  };

  beforeAll(async () => {
    debian = await debianTree('trixie', PACKAGES);
    server = await startInside(debian, MAJOR);
    folder = await mkdtemp(join(debian.root, 'tmp/tool-'));
    inside = folder.slice(debian.root.length);
    const targets = KINDS.map(({ name, schemas, start, clear }) => [
      name,
      {
        snapshot: {
          src_url: server.url(name),
          dst_url: server.url(`${name}_dev`),
          schema_config: { include_schemas: schemas },
        },
        sanitize: { override_query: clear },
        subset: {
          src_url: server.url(name),
          dst_url: server.url(`${name}_small`),
          subset_tables: [{ table: start, percent: 10 }],
        },
      },
    ]);
    const settings = {
      secret_key: 'ab'.repeat(16),
      working_directory: `${inside}/work`,
      targets: Object.fromEntries(targets),
    };
    await mkdir(join(folder, 'work'));
    await writeFile(join(folder, 'tool.yml'), JSON.stringify(settings), { mode: 0o600 });
    for (const { name, sql } of KINDS) {
      await server.psql('postgres', `CREATE DATABASE ${name}`);
      await server.psql(name, sql);
    }
  }, 600_000);

  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  for (const { name } of KINDS) {
    it(`${name}: a load has the rows of the extension's tables, and its functions answer alike`, async () => {
      await tool(`build ${name} --no-sanitize`);
      await tool(`load ${name} --original`);
      expect(await answersOf(name, `${name}_dev`)).toEqual(await answersOf(name, name));
    }, 240_000);

    it(`${name}: a subset is built`, async () => {
      await tool(`subset ${name}`);
      const query = SMALL[name] ?? '';
      expect(await server.psql(`${name}_small`, query)).toBe(await server.psql(name, query));
    }, 240_000);

    it(`${name}: a sanitized snapshot is loaded`, async () => {
      await tool(`build ${name} --no-sanitize`);
      await tool(`sanitize ${name} --ephemeral`);
      await tool(`load ${name}`);
      const [config] = ANSWERS[name] ?? [];
      expect(await server.psql(`${name}_dev`, config ?? '')).toBe(await server.psql(name, config ?? ''));
    }, 240_000);

    it(`${name}: a dump is imported, and loaded`, async () => {
      const { output } = await debian.shell(`pg_dump --create --file=${inside}/${name}.sql '${server.url(name)}'`);
      expect(output).toBe('');
      await tool(`import ${name}.sql --target ${name}`);
      await tool(`load ${name} --original`);
      expect(await answersOf(name, `${name}_dev`)).toEqual(await answersOf(name, name));
    }, 240_000);
  }
});
