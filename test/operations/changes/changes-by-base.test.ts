import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { applyBranchCreate, planBranchCreate } from '../../../src/operations/branch/create/create.ts';
import { build } from '../../../src/operations/build/build.ts';
import { type ChangesRequest, readChanges, withChanges } from '../../../src/operations/changes/changes.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import { type AnyServer, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { eventually, temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

const FILL = [
  'CREATE TABLE person (id serial PRIMARY KEY, name text, paid money, twice integer GENERATED ALWAYS AS (id * 2) STORED)',
  "INSERT INTO person (name, paid) SELECT 'person ' || i, i * 1.5 FROM generate_series(1, 9000) i",
  'CREATE TABLE calm (id integer PRIMARY KEY, name text)',
  "INSERT INTO calm SELECT i, repeat('calm ', 20) || i FROM generate_series(1, 9000) i",
  'CREATE TABLE "a log" (line text, "at" timestamptz, raw bytea)',
  `INSERT INTO "a log" SELECT E'a\\tb\\\\' || i % 50, timestamptz '2024-01-01 UTC' + i * interval '1 hour', '\\x00ff' FROM generate_series(1, 500) i`,
  'CREATE TABLE bare ()',
  'INSERT INTO bare SELECT FROM generate_series(1, 5)',
  'CREATE SEQUENCE "a count"',
];
const CHANGE = [
  'UPDATE person SET paid = -1, name = NULL WHERE id % 3000 = 1',
  'DELETE FROM person WHERE id = 5',
  "INSERT INTO person (name) VALUES ('new')",
  'UPDATE person SET name = name WHERE id = 9',
  "UPDATE calm SET name = 'other' WHERE id IN (7, 8)",
  'DELETE FROM calm WHERE id = 8999',
  "INSERT INTO calm VALUES (9001, 'new')",
  `DELETE FROM "a log" WHERE line LIKE '%7'`,
  `INSERT INTO "a log" SELECT * FROM "a log" LIMIT 3`,
  'DELETE FROM bare WHERE ctid IN (SELECT ctid FROM bare LIMIT 1)',
  `SELECT setval('"a count"', 42, false)`,
];

describeWithKind('postgres', 'changes since a load with a base copy', () => {
  let server: AnyServer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let snapshot: string;
  let events: RunEvent[];

  beforeAll(async () => {
    [server, folder] = await Promise.all([startAnyServer('postgres'), temporaryFolder()]);
    await server.create('source');
    await server.run('source', FILL);
    snapshot = (await build(contextWith(), { target: 'app' })).id;
  }, 60_000);

  beforeEach(async () => {
    events = [];
    await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app', keepBase: true, undo: false }));
  }, 60_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  function contextWith() {
    const app = { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } };
    const settings = { working_directory: join(folder.path, 'work'), targets: { app } };
    return testContext({ settings: { ...settings, saves: { keep: 2, max_duration: 10, before: [] } }, events });
  }

  const changes = async (request: Partial<ChangesRequest> = {}) => {
    const { since: _, ...found } = await readChanges(contextWith(), { target: 'app', reveal: true, ...request });
    return found;
  };
  const said = () => events.flatMap((event) => (event.event === 'step' && event.state === 'done' ? [event.label] : []));

  it('are read alone, and equal a comparison with all stored rows', async () => {
    await server.run('copy', CHANGE);
    const found = await changes();
    expect(said().join('\n')).toMatch(/with its base copy: 4 tables changed/);
    const { reading, ...stored } = await changes({ since: snapshot });
    expect(reading).toBeDefined();
    expect(found).toEqual(stored);
    expect(found.tables.map(({ table, added, changed, removed }) => [table, added, changed, removed])).toEqual([
      ['public.a log', 3, null, 50],
      ['public.bare', 0, null, 1],
      ['public.calm', 1, 2, 1],
      ['public.person', 1, 3, 1],
    ]);
    const sql = (request: Partial<ChangesRequest>) =>
      withChanges(contextWith(), { target: 'app', ...request }, async (opened) => {
        const made = await opened.makeSql({ file: join(folder.path, 'none.sql'), most: 1_000_000 });
        // pg_dump quotes names where that is needed.
        return 'text' in made && made.text.replaceAll('"', '');
      });
    expect(await sql({})).toBe(await sql({ since: snapshot }));
    expect(await sql({})).toContain('UPDATE');
  });

  it('scan no table of which the visibility map tells the blocks that may have changed', async () => {
    const scans = async () =>
      (await server.column('copy', `SELECT relname || ' ' || seq_scan FROM pg_stat_user_tables ORDER BY 1`)).filter(
        (line) => /^(calm|person) /.test(line),
      );
    await server.run('copy', [
      'UPDATE person SET name = NULL',
      'UPDATE calm SET name = NULL WHERE ctid = (SELECT max(ctid) FROM calm)',
      'DELETE FROM calm WHERE ctid = (SELECT min(ctid) FROM calm)',
      'SELECT pg_stat_force_next_flush()',
    ]);
    const [calm, person] = await scans();
    const tables = [
      { table: 'public.calm', changed: 1, removed: 1 },
      { table: 'public.person', changed: 9000 },
    ];
    expect((await changes()).tables).toMatchObject(tables);
    await eventually(async () => (await scans())[1] !== person);
    expect((await scans())[0]).toBe(calm);
    // A VACUUM sets its bits again: the rows are counted.
    await server.run('copy', ['VACUUM (INDEX_CLEANUP ON) calm, person']);
    expect((await changes()).tables).toMatchObject(tables);
    await eventually(async () => (await scans())[0] !== calm);
  });

  it('are found among all rows where something else has changed, or a client was connected to the base copy', async () => {
    const compared = async (...statements: string[]) => {
      events = [];
      await server.run('copy', statements);
      const found = await changes();
      expect(found.reading).toBeDefined();
      expect(found.tables).toMatchObject([{ table: 'public.person', removed: 1 }]);
      return said().find((label) => label.includes('base copy'));
    };
    const large = await compared("SELECT lo_from_bytea(4711, 'large')", 'DELETE FROM person WHERE id = 1');
    expect(large).toContain('large objects have changed');
    expect(await compared('ALTER TABLE calm ADD more integer', 'SELECT lo_unlink(4711)')).toContain('have changed');
    await server.run('postgres', ['ALTER DATABASE "copy.tool-base" ALLOW_CONNECTIONS true']);
    await server.run('copy.tool-base', ['DELETE FROM calm']);
    await server.run('postgres', ['ALTER DATABASE "copy.tool-base" ALLOW_CONNECTIONS false']);
    expect(await compared('ALTER TABLE calm DROP more')).toBeUndefined();
  });

  it('are read alone in a branch as well, unless it was made of another load', async () => {
    const create = async (name: string) =>
      applyBranchCreate(contextWith(), await planBranchCreate(contextWith(), { target: 'app', name }));
    await create('tried');
    await server.run('copy_tried', CHANGE);
    await server.run('copy', ['DELETE FROM person']);
    events = [];
    const found = await changes({ branch: 'tried' });
    expect(said().join('\n')).toMatch(/copy_tried with its base copy: 4 tables changed/);
    const { reading, ...stored } = await changes({ branch: 'tried', since: snapshot });
    expect(reading).toBeDefined();
    expect(found).toEqual(stored);
    await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app', keepBase: true, undo: false }));
    events = [];
    expect((await changes({ branch: 'tried' })).tables).toEqual(stored.tables);
    expect(said().join('\n')).toMatch(/copy_tried cannot be compared with its base copy: it is a copy of another one/);
  });
});
