import { spawn } from 'node:child_process';
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { verify } from '../../../src/operations/snapshots/verify/verify.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { LoadResult } from '../../../src/results/load-results.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  eventually,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const FILL = `
  CREATE TABLE person (id integer PRIMARY KEY, name text NOT NULL, boss integer REFERENCES person);
  INSERT INTO person SELECT i, 'person ' || i, nullif(i / 2, 0) FROM generate_series(1, 2000) i;
  CREATE SEQUENCE counter; SELECT setval('counter', 42)`;

describeWithPostgres('a load', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let events: RunEvent[];
  let context: Context;

  beforeAll(async () => {
    await server.createDatabase('source');
    await server.psql('source', { sql: FILL });
    await build(newContext(), { target: 'app', note: 'first' });
  }, 60_000);

  beforeEach(async () => {
    events = [];
    context = newContext();
    for (const name of await server.databases()) {
      if (name.startsWith('copy')) await server.psql('postgres', { sql: `DROP DATABASE "${name}" WITH (FORCE)` });
    }
    await server.createDatabase('copy');
    await server.psql('copy', { sql: 'CREATE TABLE mine (id integer); INSERT INTO mine VALUES (7)' });
  });

  function newContext(signal?: AbortSignal): Context {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    const settings = { working_directory: folder.path, targets: { app: { snapshot } } };
    return testContext({ settings, events, ...(signal && { signal }) });
  }

  async function run(request: Partial<LoadRequest> = {}, on = context): Promise<LoadResult> {
    return applyLoad(on, await planLoad(on, { target: 'app', ...request }));
  }

  async function expectUntouched(): Promise<void> {
    expect(await server.psql('copy', { sql: 'SELECT id FROM mine' })).toBe('7\n');
    expect(await server.databases()).toEqual(['copy', 'postgres', 'source']);
    expect(await readdir(join(folder.path, 'staging'))).toEqual([]);
  }

  it('plans without changing anything', async () => {
    const { plan } = await planLoad(context, { target: 'app' });
    expect(plan).toMatchObject({
      chosen_by: 'targets.app.snapshot.dst_url',
      strategy: 'swap',
      undo: true,
      tables: 1,
      rows: 2000,
      destination: { database: 'copy', exists: true, local: true, connections: 0 },
    });
    expect(JSON.stringify(plan)).not.toContain(new URL(server.url('x')).password);
    await expectUntouched();
  });

  it('makes a destination that does not exist', async () => {
    const result = await run({ destdb: server.url('copy_new') });
    expect(result).toMatchObject({ rows: 2000, undo_database: null });
    expect(await server.dump('copy_new')).toBe(await server.dump('source'));
  });

  it('keeps the settings, grants and owner of the destination', async () => {
    await server.psql('postgres', {
      sql: `CREATE ROLE keeper LOGIN; ALTER DATABASE copy OWNER TO keeper; ALTER DATABASE copy SET work_mem = '7MB';
        ALTER DATABASE copy SET search_path = public, "$user"; ALTER DATABASE copy CONNECTION LIMIT 17; REVOKE CONNECT ON DATABASE copy FROM PUBLIC`,
    });
    const facts = `SELECT pg_get_userbyid(datdba), datconnlimit, (SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(datacl) a), (SELECT setconfig FROM pg_db_role_setting WHERE setdatabase = d.oid) FROM pg_database d WHERE datname = 'copy'`;
    const before = await server.psql('postgres', { sql: facts });
    await run();
    expect(await server.psql('postgres', { sql: facts })).toBe(before);
    for (const sql of ['DROP DATABASE "copy.tool-undo"', 'DROP DATABASE copy', 'DROP ROLE keeper']) {
      await server.psql('postgres', { sql });
    }
  });

  it('ends the sessions that are open on the destination, and said so', async () => {
    const held = spawn('psql', ['-X', '-q', server.url('copy')], { stdio: ['pipe', 'ignore', 'ignore'] });
    held.stdin.write(`SET application_name = 'held';\n`);
    const gone = new Promise((resolve) => held.once('exit', resolve));
    await eventually(async () => {
      const sql = `SELECT string_agg(application_name, ',') FROM pg_stat_activity WHERE datname = 'copy'`;
      return (await server.psql('postgres', { sql })) === 'held\n';
    });
    const planned = await planLoad(context, { target: 'app' });
    expect(planned.plan.destination.connections).toBe(1);
    expect(planned.plan.warnings).toContainEqual(expect.objectContaining({ code: 'sessions_open' }));
    await applyLoad(context, planned);
    held.stdin.end('SELECT 1;\n');
    await gone;
    expect(await server.dump('copy')).toBe(await server.dump('source'));
  });

  it('refuses the source of any target that is one of several hosts', async () => {
    const destdb = server
      .url('source')
      .replace(`127.0.0.1:${server.port}`, `127.0.0.2:${server.port},localhost:${server.port}`);
    await expect(planLoad(context, { target: 'app', destdb })).rejects.toMatchObject({
      code: 'destination_is_source',
      exit: 5,
    });
  });

  /** Milliseconds after the server has begun to make the new database, which it goes on with when nobody waits any more. */
  const MOMENTS = Array.from({ length: 10 }, (_, index) => 8 * index);

  it('leaves the destination unchanged and no shadow database when interrupted', async () => {
    for (const after of MOMENTS) {
      const controller = new AbortController();
      const interruptible = newContext(controller.signal);
      interruptible.report = (event) => {
        if (event.event === 'step' && event.step === 'prepare' && event.state === 'started')
          setTimeout(() => controller.abort(new Error('stopped')), after);
      };
      await expect(run({}, interruptible)).rejects.toThrow('stopped');
      await expectUntouched();
    }
  });

  it('fails for a damaged snapshot, names the file, and leaves the destination unchanged', async () => {
    const work = await temporaryFolder();
    await using _work = work;
    const own = testContext({
      settings: { ...context.configuration.settings, working_directory: work.path },
    });
    await build(own, { target: 'app' });
    const [manifestFile] = await readdir(join(work.path, 'snapshots', 'app'));
    const manifest = JSON.parse(await readFile(join(work.path, 'snapshots', 'app', manifestFile ?? ''), 'utf8'));
    const { sha256 } = manifest.tables[0].file;
    const object = join(work.path, 'objects', sha256.slice(0, 2), sha256);
    const bytes = await readFile(object);
    bytes.writeUInt8(bytes.readUInt8(100) ^ 0xff, 100);
    await writeFile(object, bytes);
    await expect(run({}, own)).rejects.toThrow();
    await expect(run({ inPlace: true }, own)).rejects.toThrow();
    expect(await verify(own, { target: 'app' })).toMatchObject({
      ok: false,
      problems: [expect.stringContaining('public.person')],
    });
    await truncate(object, 50);
    await expect(run({}, own)).rejects.toThrow();
    await expect(run({ inPlace: true }, own)).rejects.toThrow();
    await expectUntouched();
  });

  it('refuses a server without an extension or a role that the snapshot needs, before anything is touched', async () => {
    const [row] = (await listSnapshots(context, 'app')).snapshots;
    const name =
      (await readdir(join(folder.path, 'snapshots', 'app'))).find((file) => file.includes(row?.id ?? '')) ?? '';
    const path = join(folder.path, 'snapshots', 'app', name);
    const whole = await readFile(path, 'utf8');
    const { signature: _, ...manifest } = JSON.parse(whole);
    manifest.details.extensions = [{ name: 'no_such_extension', schema: 'public' }];
    await writeFile(path, JSON.stringify(manifest));
    await expect(run()).rejects.toMatchObject({ code: 'extension_missing' });
    manifest.details.extensions = [];
    manifest.details.roles = ['nobody_of_this_name'];
    await writeFile(path, JSON.stringify(manifest));
    await expect(run()).rejects.toMatchObject({
      code: 'role_missing',
      hint: expect.stringContaining('CREATE ROLE "nobody_of_this_name"'),
    });
    await writeFile(path, whole);
    await expectUntouched();
  });

  it('refuses a server whose disk has no room, before anything is touched', async () => {
    const [row] = (await listSnapshots(context, 'app')).snapshots;
    const name =
      (await readdir(join(folder.path, 'snapshots', 'app'))).find((file) => file.includes(row?.id ?? '')) ?? '';
    const path = join(folder.path, 'snapshots', 'app', name);
    const whole = await readFile(path, 'utf8');
    const { signature: _, ...manifest } = JSON.parse(whole);
    manifest.tables[0].file.bytes = Number.MAX_SAFE_INTEGER;
    await writeFile(path, JSON.stringify(manifest));
    await expect(run()).rejects.toMatchObject({ code: 'space_short', exit: 1 });
    await writeFile(path, whole);
    await expectUntouched();
  });

  it('runs in the destination, in one transaction, as a role that may not create databases', async () => {
    await server.psql('postgres', {
      sql: `CREATE ROLE plain LOGIN PASSWORD 'plain'; ALTER DATABASE copy OWNER TO plain`,
    });
    await server.psql('copy', { sql: 'ALTER TABLE mine OWNER TO plain; ALTER SCHEMA public OWNER TO plain' });
    const destdb = server.url('copy').replace(/postgres:[^/@]+@/, 'plain:plain@');
    const { plan } = await planLoad(context, { target: 'app', destdb });
    expect(plan).toMatchObject({
      strategy: 'in_place',
      strategy_reason: 'the role may not create databases',
      undo: false,
    });
    await run({ destdb });
    expect(await server.dump('copy', '--data-only')).toBe(await server.dump('source', '--data-only'));
    await expect(
      planLoad(context, { target: 'app', destdb: destdb.replace('/copy', '/copy_none') }),
    ).rejects.toMatchObject({ code: 'may_not_create' });
    await server.psql('copy', { sql: 'DROP OWNED BY plain CASCADE' });
    await server.psql('postgres', { sql: 'ALTER DATABASE copy OWNER TO postgres; DROP ROLE plain' });
  });

  it('runs a file in a new database and swaps, or with noDrop on the existing one', async () => {
    const file = join(folder.path, 'seed.sql');
    await writeFile(file, 'CREATE TABLE seeded (id integer);\nINSERT INTO seeded VALUES (1);\n');
    await run({ file, noDrop: true });
    expect(await server.psql('copy', { sql: 'SELECT mine.id, seeded.id FROM mine, seeded' })).toBe('7|1\n');
    await run({ file });
    expect(await server.psql('copy', { sql: 'SELECT relname FROM pg_stat_user_tables' })).toBe('seeded\n');
    await writeFile(file, 'INSERT INTO seeded VALUES (2);\nSELECT 1 / 0;\n');
    await expect(run({ file, noDrop: true })).rejects.toMatchObject({
      code: 'script_failed',
      message: expect.stringContaining('seed.sql:2:1'),
    });
    expect(await server.psql('copy', { sql: 'SELECT id FROM seeded' })).toBe('1\n');
    await writeFile(file, 'SELECT 1;\n\\connect source\n');
    await expect(run({ file })).rejects.toMatchObject({ code: 'script_refused', exit: 5 });
  });

  it('runs a file on the source with --source', async () => {
    const file = join(folder.path, 'source.sql');
    await writeFile(file, 'CREATE TABLE was_here (); DROP TABLE was_here;');
    const { plan } = await planLoad(context, { target: 'app', file, source: true });
    expect(plan).toMatchObject({ strategy: 'script', destination: { database: 'source' } });
    await run({ file, source: true });
    await expectUntouched();
  });

  it('reports the cause and the SQL when pg_restore fails, and leaves the destination unchanged', async () => {
    await server.psql('source', {
      sql: `CREATE FUNCTION broken() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'; CREATE INDEX broken_index ON person ((id + broken()))`,
    });
    await server.psql('source', {
      sql: `SET check_function_bodies = off; CREATE OR REPLACE FUNCTION broken() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT missing_column FROM nowhere'`,
    });
    const own = newContext();
    await build(own, { target: 'app' });
    await expect(run()).rejects.toMatchObject({
      code: 'restore_failed',
      details: expect.arrayContaining([expect.stringContaining('broken'), expect.stringContaining('CREATE INDEX')]),
    });
    await server.psql('source', { sql: 'DROP INDEX broken_index; DROP FUNCTION broken()' });
    await expectUntouched();
  });
});
