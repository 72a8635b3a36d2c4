import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../../src/operations/load/planned-load.ts';
import { findSnapshot } from '../../../../src/operations/snapshots/snapshots.ts';
import { filesOfTable, type Manifest, type ManifestTable } from '../../../../src/repository/manifest/manifest.ts';
import type { Context } from '../../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { forgeSnapshot } from '../../../helpers/storage/forged-snapshot.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const ROWS = 36_000;
/** Some 37 MB in six ranges, more than one session loads; every kind of column that COPY must leave out, and an heir. */
const SOURCE = `
  CREATE TABLE "the event" (gone text, id bigint PRIMARY KEY, "bo\\dy" text, twice bigint GENERATED ALWAYS AS (id * 2) STORED, note text);
  ALTER TABLE "the event" DROP COLUMN gone;
  INSERT INTO "the event" (id, "bo\\dy", note) SELECT i, repeat(md5(i::text), 31), CASE i % 5 WHEN 0 THEN E'tab\\t, \\\\ and\\nline' WHEN 1 THEN NULL ELSE '' END
    FROM generate_series(1, ${ROWS}) i;
  CREATE TABLE heir (more integer) INHERITS ("the event");
  INSERT INTO heir (id, more) VALUES (-1, 1);
  CREATE TABLE nothing (); INSERT INTO nothing DEFAULT VALUES; INSERT INTO nothing DEFAULT VALUES;
  SET array_nulls = on; CREATE TABLE small (id integer, tags text[] DEFAULT '{a,NULL}'); INSERT INTO small VALUES (1, ARRAY['a', NULL]);
  CREATE TABLE bare (id integer);
  SET transform_null_equals = off; CREATE FUNCTION is_none(integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 = NULL';
  CREATE TABLE compared (id integer, none boolean GENERATED ALWAYS AS (is_none(id)) STORED); INSERT INTO compared VALUES (1), (NULL)`;

describeWithPostgres('a table in parts', () => {
  let server: TestPostgres;
  const folder = suiteResource(() => temporaryFolder());
  let first: Manifest;

  beforeAll(async () => {
    // By which NULL in the text of an array is a word, and a comparison with NULL has a result.
    server = await startPostgres({ array_nulls: 'off', transform_null_equals: 'on' });
    await server.createDatabase('app');
    await server.psql('app', { sql: SOURCE });
    first = await buildApp();
  }, 60_000);

  afterAll(async () => {
    await server?.stop();
  });

  function context(destination = 'app_dev'): Context {
    const snapshot = { src_url: server.url('app'), dst_url: server.url(destination) };
    return testContext({ settings: { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } } });
  }

  async function buildApp(): Promise<Manifest> {
    await build(context(), { target: 'app', cpus: 2 });
    return (await findSnapshot(context(), { target: 'app' })).manifest;
  }

  async function load(
    destination: string,
    { environment = {}, ...request }: Partial<LoadRequest> & { environment?: NodeJS.ProcessEnv } = {},
  ): Promise<void> {
    const given = context(destination);
    const into = { ...given, environment: { ...given.environment, ...environment } };
    await applyLoad(into, await planLoad(into, { target: 'app', cpus: 2, snapshot: first.id, ...request }));
  }

  /** In whatever order: several sessions interleave theirs. */
  function rowsOf(database: string): Promise<string> {
    const sums = ['"the event"', 'heir', 'nothing', 'small', 'bare', 'compared'].map(
      (table) => `SELECT '${table}', count(*), md5(string_agg(t::text, '' ORDER BY t::text)) FROM ONLY ${table} t`,
    );
    return server.psql(database, { sql: sums.join(' UNION ALL ') });
  }

  function event({ tables }: Manifest): ManifestTable {
    const found = tables.find(({ name }) => name === 'public.the event');
    if (!found) throw new Error('the table is not in the manifest');
    return found;
  }

  function checksums(manifest: Manifest): string[] {
    return filesOfTable(event(manifest)).map(({ sha256 }) => sha256);
  }

  it('equals the output of pg_dump, and its manifest is refused by programs without parts', () => {
    expect(first.format).toBe(2);
    expect(checksums(first).length).toBeGreaterThan(4);
    expect(first.tables.map(({ name, rows }) => [name, rows])).toEqual([
      ['public.bare', 0],
      ['public.compared', 2],
      ['public.heir', 1],
      ['public.nothing', 2],
      ['public.small', 1],
      ['public.the event', ROWS],
    ]);
  });

  it.each([
    ['by several sessions', { cpus: 2 }],
    ['by one session', { cpus: 1 }],
    ['by psql, where libpq has more to say', { environment: { PGAPPNAME: 'app' } }],
    ['in place', { inPlace: true }],
  ])('is loaded %s', async (_, request) => {
    await server.createDatabase('app_dev');
    await load('app_dev', request);
    expect(await server.dump('app_dev', '--schema-only')).toBe(await server.dump('app', '--schema-only'));
    expect(await rowsOf('app_dev')).toBe(await rowsOf('app'));
    await server.psql('postgres', { sql: 'DROP DATABASE app_dev' });
    await server.psql('postgres', { sql: 'DROP DATABASE IF EXISTS "app_dev.tool-undo"' });
  });

  it('is loaded with its parts in another order', async () => {
    const reverse = (table: ManifestTable): ManifestTable =>
      table.parts ? { ...table, parts: table.parts.toReversed() } : table;
    const id = 'b0000001';
    await forgeSnapshot({
      directory: join(folder.path, 'work'),
      manifest: first,
      id,
      tables: (all) => all.map(reverse),
    });
    await load('reversed', { snapshot: id });
    expect(await rowsOf('reversed')).toBe(await rowsOf('app'));
  });

  it.each([
    { what: 'lacks a part', letter: 'c', code: 'restore_failed', content: undefined },
    { what: 'has a part without its end', letter: 'd', code: 'content_refused', content: '1\tx\t\\N\n' },
    {
      what: 'has a part that ends in the middle',
      letter: 'e',
      code: 'content_refused',
      content: '1\tx\t\\N\n\\.\n2\tx\t\\N\n\\.\n\n\n',
    },
    { what: 'has a part without rows', letter: 'f', code: 'restore_failed', content: '\\.\n\n\n' },
  ])('is refused when it $what', async ({ letter, code, content }) => {
    const last = event(first).parts?.at(-1)?.name ?? '';
    const forgery = { directory: join(folder.path, 'work'), manifest: first };
    const without = (table: ManifestTable): ManifestTable =>
      table.parts && content === undefined ? { ...table, parts: table.parts.slice(0, -1) } : table;
    for (const inPlace of letter === 'd' ? [false, true] : [false]) {
      const id = `${letter}000000${inPlace ? 1 : 2}`;
      const files = content === undefined ? {} : { [last]: content };
      await forgeSnapshot({ ...forgery, id, files, tables: (all) => all.map(without) });
      if (inPlace) await server.createDatabase(`refused_${letter}`);
      await expect(load(`refused_${letter}`, { snapshot: id, inPlace })).rejects.toMatchObject({ code });
    }
  });

  it('has all rows or none when a load goes on after an error', async () => {
    const part = event(first).parts?.[1]?.name ?? '';
    const id = 'a0000001';
    const files = { [part]: 'no number\tx\t\\N\n\\.\n\n\n' };
    await forgeSnapshot({ directory: join(folder.path, 'work'), manifest: first, id, files });
    const error = await load('going_on', { snapshot: id, keepGoing: 'inspect' }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'restore_incomplete' });
    expect(error.details).toEqual(expect.arrayContaining([`public.the event: 0 rows, ${ROWS} in the manifest`]));
    expect(error.details.filter((line: string) => line.includes('could not be loaded'))).toHaveLength(1);
  });

  it('is the same by psql, which reads where libpq has more to say', async () => {
    const given = context();
    const environment = { ...given.environment, PGAPPNAME: 'app' };
    await build({ ...given, environment }, { target: 'app', cpus: 2 });
    const { manifest } = await findSnapshot(given, { target: 'app' });
    expect(manifest.id).not.toBe(first.id);
    expect(manifest.tables).toEqual(first.tables);
    expect(manifest.added_bytes).toBe(0);
  });

  it('adds only changed parts, and nothing when nothing has changed', async () => {
    const again = await buildApp();
    expect(again.added_bytes).toBe(0);
    expect(checksums(again)).toEqual(checksums(first));

    await server.psql('app', {
      sql: `INSERT INTO "the event" (id, "bo\\dy") SELECT i, repeat(md5(i::text), 31) FROM generate_series(${ROWS + 1}, ${ROWS + 20}) i`,
    });
    const appended = await buildApp();
    expect(checksums(appended).slice(0, -1)).toEqual(checksums(first).slice(0, -1));
    expect(appended.added_bytes).toBeLessThan(first.added_bytes / 4);

    // A new version of the row goes to the end, where there is room.
    await server.psql('app', { sql: `UPDATE "the event" SET note = 'changed' WHERE id = 1` });
    const updated = await buildApp();
    const changed = checksums(updated).map((sha256, at) => sha256 !== checksums(appended)[at]);
    expect(changed).toEqual([true, ...changed.slice(1, -1).map(() => false), true]);
  });
});
