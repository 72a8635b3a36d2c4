import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { applyBack, planBack } from '../../../src/operations/back/back.ts';
import { build } from '../../../src/operations/build/build.ts';
import { readChanges } from '../../../src/operations/changes/changes.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyReset, planReset } from '../../../src/operations/reset/reset.ts';
import { applySave, planSave } from '../../../src/operations/save/save.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { type AnyServer, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

const FILL = [
  'CREATE TABLE wide (id integer PRIMARY KEY, filler text) WITH (fillfactor = 10)',
  "INSERT INTO wide SELECT i, repeat('x', 700) FROM generate_series(1, 1500) i",
  'CREATE TABLE plain (id integer PRIMARY KEY, name text)',
  "INSERT INTO plain SELECT i, 'name ' || i FROM generate_series(1, 9000) i",
  // A restore puts columns of a parent before others.
  'CREATE TABLE parent (a integer, b integer)',
  'CREATE TABLE child (c integer, b integer, a integer)',
  'ALTER TABLE child INHERIT parent',
  'INSERT INTO child SELECT i, i + 1, i + 2 FROM generate_series(1, 20000) i',
  'CREATE TABLE named (id integer, kind regclass)',
  "INSERT INTO named SELECT i, 'plain' FROM generate_series(1, 9000) i",
];

const CONTENT = ['wide', 'plain', '(SELECT a, b, c FROM child)', 'named']
  .map((from) => `SELECT '${from} ' || md5(string_agg(t::text, ' ' ORDER BY t::text COLLATE "C")) FROM ${from} t`)
  .join(' UNION ALL ');

describeWithKind('postgres', 'the first reading after a load', () => {
  let server: AnyServer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    [server, folder] = await Promise.all([startAnyServer('postgres'), temporaryFolder()]);
    await server.create('source');
    await server.run('source', FILL);
    await build(contextWith(), { target: 'app' });
  }, 60_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  function contextWith(more: Record<string, unknown> = {}): Context {
    const app = { snapshot: { src_url: server.url('source'), dst_url: server.url('copy'), ...more } };
    return testContext({
      settings: {
        ...{ working_directory: join(folder.path, 'work'), targets: { app } },
        saves: { keep: 20, max_duration: 10, before: [] },
      },
    });
  }

  const load = async (request = {}, context = contextWith()) =>
    applyLoad(context, await planLoad(context, { target: 'app', ...request }));
  const back = async (point: string) =>
    applyBack(contextWith(), await planBack(contextWith(), { target: 'app', point }));
  const reset = async () =>
    applyReset(contextWith(), await planReset(contextWith(), { target: 'app', copy: true, undo: false }));
  const contentOf = async (database: string) => (await server.column(database, CONTENT)).sort();
  /** Without the base copy, if there is one. */
  const changes = async () => {
    const open = (isOpen: boolean) =>
      server.run('postgres', [`ALTER DATABASE "copy.tool-base" ALLOW_CONNECTIONS ${isOpen}`]).catch(() => {});
    await open(true);
    const found = await readChanges(contextWith(), { target: 'app' });
    await open(false);
    return found;
  };
  const save = async (name: string) =>
    (await applySave(contextWith(), await planSave(contextWith(), { target: 'app', name }))).save;

  it('is of the tables only whose rows are not proved to be those of the snapshot', async () => {
    await load({ keepBase: true });
    // The order of its columns, or the text of its values, may be another one here.
    const read = ['public.child', 'public.named', 'public.parent'];
    const { tables, reading } = await changes();
    expect(tables).toEqual([]);
    expect(reading).toMatchObject({ tables_unchanged: 2, all_read: null });
    expect(reading?.read.toSorted()).toEqual(read);
    await save('loaded');
    await back('loaded');
    expect(await contentOf('copy')).toEqual(await contentOf('source'));
  });

  it('scans no table whose visibility map is as after the load, or at the last save', async () => {
    await load();
    const scans = () =>
      server.column(
        'copy',
        "SELECT seq_scan::text FROM pg_stat_user_tables WHERE relname IN ('wide', 'plain') ORDER BY relname DESC",
      );
    const [wide, plain] = (await scans()).map(Number);
    await save('first');
    // A load freezes large tables only.
    await expect.poll(scans).toEqual([`${wide}`, `${Number(plain) + 1}`]);
    await server.run('copy', ['VACUUM plain']);
    await save('second');
    await expect.poll(scans).toEqual([`${wide}`, `${Number(plain) + 2}`]);
    await save('third');
    await expect.poll(scans).toEqual([`${wide}`, `${Number(plain) + 2}`]);
    await server.run('copy', ["UPDATE plain SET name = 'other' WHERE id = 5"]);
    expect((await save('fourth')).reading).toMatchObject({ tables_unchanged: 2 });
    // The bits that the change has cleared are set again.
    await server.run('copy', ['VACUUM plain']);
    const counted = await scans();
    await save('fifth');
    await expect.poll(scans).not.toEqual(counted);
  });

  it('finds each change, of a table with several files as well, and a save has it', async () => {
    await load();
    await server.run('copy', ["UPDATE wide SET filler = 'y' WHERE id = 700"]);
    const found = await changes();
    expect(found.tables.find(({ table }) => table === 'public.wide')).toMatchObject({ changed: 1, added: 0 });
    expect(found.reading).toMatchObject({ tables_unchanged: 1 });
    await server.run('copy', ['DELETE FROM plain WHERE id = 5']);
    const content = await contentOf('copy');
    await save('changed');
    await load();
    await back('changed');
    expect(await contentOf('copy')).toEqual(content);
    // In the save, the columns of the child are in the order of here.
    expect((await changes()).reading).toMatchObject({ tables_unchanged: 3 });
    expect((await save('again')).reading).toMatchObject({ tables_unchanged: 3 });
  });

  it('is of all rows after steps of after_load, whose effect a reset copies', async () => {
    const query_file = join(folder.path, 'after.sql');
    await writeFile(query_file, 'UPDATE plain SET name = upper(name)');
    const context = contextWith({ after_load: [{ query_file, timeout: 60 }] });
    await load({ keepBase: true }, context);
    expect((await changes()).reading).toMatchObject({ tables_unchanged: 0 });
    await reset();
    expect((await changes()).reading).toMatchObject({ tables_unchanged: 0 });
  });

  it('is the same after a reset by copy', async () => {
    await load({ keepBase: true });
    await server.run('copy', ["UPDATE plain SET name = 'changed'"]);
    await reset();
    const { tables, reading } = await changes();
    expect(tables.find(({ table }) => table === 'public.plain')).toBeUndefined();
    expect(reading).toMatchObject({ tables_unchanged: 2, all_read: null });
    await server.run('copy', ["UPDATE plain SET name = 'changed' WHERE id = 7"]);
    expect((await changes()).tables.find(({ table }) => table === 'public.plain')).toMatchObject({ changed: 1 });
  });

  it('is of all rows where code of the snapshot may have changed some of them during the load', async () => {
    const count = async (database: string) => server.column(database, 'SELECT name FROM plain WHERE id = 1');
    await server.run('source', [
      `CREATE FUNCTION note() RETURNS integer LANGUAGE plpgsql AS 'BEGIN UPDATE public.plain SET name = name || 1 WHERE id = 1; RETURN 1; END'`,
      'CREATE VIEW noted AS SELECT public.note()',
      'CREATE MATERIALIZED VIEW kept AS TABLE noted',
    ]);
    await build(contextWith(), { target: 'app' });
    await load();
    expect(await count('source')).toEqual(['name 11']);
    expect(await count('copy')).toEqual(['name 111']);
    expect((await changes()).tables).toMatchObject([{ table: 'public.plain', changed: 1 }]);
    await server.run('source', ['DROP VIEW noted CASCADE']);
  });
});
