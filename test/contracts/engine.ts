import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { DatabaseUrl } from '../../src/engines/database-url.ts';
import { openDatabase } from '../../src/engines/open-database.ts';
import { parseUrl } from '../../src/engines/registry.ts';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import type { LoadRequest } from '../../src/operations/load/planned-load.ts';
import { diff } from '../../src/operations/snapshots/diff/diff.ts';
import { diffTable } from '../../src/operations/snapshots/diff/table-diff.ts';
import { localRepository } from '../../src/operations/snapshots/local-repository.ts';
import { readRows } from '../../src/operations/snapshots/rows/rows.ts';
import { snapshotReader } from '../../src/operations/snapshots/snapshot-reader.ts';
import { findSnapshot } from '../../src/operations/snapshots/snapshots.ts';
import { verify } from '../../src/operations/snapshots/verify/verify.ts';
import { checkTarget } from '../../src/operations/targets/targets.ts';
import { applyUndo, planUndo } from '../../src/operations/undo/undo.ts';
import { createObjectPool } from '../../src/repository/objects/object-pool.ts';
import type { RunEvent } from '../../src/results/events.ts';
import type { Context } from '../../src/runtime/context.ts';
import { asData } from '../helpers/fakes/as-data.ts';
import { temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

/** What the contract needs of a real server, whatever its kind. */
export interface ContractServer {
  port: number;
  url(database: string): string;
  /** The same database, as a user whose password is wrong. */
  deniedUrl(database: string): string;
  createDatabase(name: string): Promise<void>;
  /** Fills a database with whatever the engine has to carry over. */
  fill(database: string): Promise<void>;
  run(database: string, statement: string): Promise<unknown>;
  /** Everything in a database, as text that is the same for equal ones. */
  dump(database: string): Promise<string>;
  databases(): Promise<string[]>;
  stop(): Promise<void>;
}

const FAILING =
  'CREATE TABLE from_script (id integer PRIMARY KEY);\nINSERT INTO from_script VALUES (1);\nSELECT nothing FROM nowhere;\n';
const WORKING = 'CREATE TABLE from_script (id integer PRIMARY KEY);\nINSERT INTO from_script VALUES (1);\n';

/** Real servers on a busy machine take their time. */
const LIMIT = 240_000;

const SHOWN = "INSERT INTO shown VALUES (0, 'NULL'), (1, '漢字\t\n'), (2, NULL), (3, '')";

/** What every engine keeps, proved on a real server; called inside a `describe`. */
export function engineContract(start: () => Promise<ContractServer>): void {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => start());

  beforeAll(async () => {
    await server.createDatabase('source');
    await server.fill('source');
    await server.run('source', 'CREATE TABLE shown (id integer PRIMARY KEY, code varchar(20))');
    await server.run('source', SHOWN);
  }, 240_000);

  function contextFor(events: RunEvent[] = [], signal?: AbortSignal): Context {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    return testContext({
      settings: { working_directory: folder.path, targets: { app: { snapshot } } },
      events,
      ...(signal && { signal }),
    });
  }

  async function loadApp(context: Context, request: Partial<LoadRequest> = {}) {
    return applyLoad(context, asData(await planLoad(context, { target: 'app', cpus: 2, ...request })));
  }

  it(
    'restores a database that is dumped as its source is',
    async () => {
      const events: RunEvent[] = [];
      const context = contextFor(events);
      const row = await build(context, { target: 'app', cpus: 2 });
      const result = await loadApp(context);
      expect(await server.dump('copy')).toBe(await server.dump('source'));
      const { tables, rows, size_bytes } = row;
      expect(result).toMatchObject({ tables, rows, size_bytes, undo_database: null });
      const made = events.flatMap((event) => (event.event === 'progress' && event.step === 'index' ? [event] : []));
      expect(made.at(-1)?.total).toBeGreaterThan(0);
      expect(made.at(-1)).toMatchObject({ unit: 'objects', done: made.at(-1)?.total });
      expect(await server.databases()).toEqual(expect.not.arrayContaining([expect.stringContaining('.tool-')]));
    },
    LIMIT,
  );

  it(
    'stores unchanged content once',
    async () => {
      const again = await build(contextFor(), { target: 'app', cpus: 2 });
      expect(again.stored_bytes).toBe(0);
      expect((await verify(contextFor(), { target: 'app' })).ok).toBe(true);
    },
    LIMIT,
  );

  it(
    'compares a snapshot with the destination as it is now',
    async () => {
      const context = contextFor();
      const { manifest } = await findSnapshot(context, { target: 'app' });
      const tables = manifest.tables.length;
      expect(await diff(context, { target: 'app', a: 0 })).toMatchObject({ changes: [], unchanged: tables });
      const statements = ['CREATE TABLE added (id integer PRIMARY KEY)', 'INSERT INTO added VALUES (1), (2)'];
      for (const statement of statements) await server.run('copy', statement);
      const { changes, unchanged } = await diff(context, { target: 'app', a: 0 });
      expect(changes).toEqual([
        { table: `${manifest.schemas[0]}.added`, change: 'added', from: null, to: { rows: 2, bytes: null } },
      ]);
      expect(unchanged).toBe(tables);
      await server.run('copy', 'DROP TABLE added');
    },
    LIMIT,
  );

  it(
    'lists the tables of a database as the configuration names them',
    async () => {
      const context = contextFor();
      const { manifest } = await findSnapshot(context, { target: 'app' });
      const source = openDatabase(context, parseUrl(server.url('source')));
      const listed = await source.connect.listTables();
      const names = listed.map(({ name }) => name);
      // Of a partitioned table a snapshot has the partitions.
      expect(names.filter((name) => manifest.tables.some((table) => table.name === name))).not.toEqual([]);
      expect(listed.every(({ size_bytes }) => typeof size_bytes === 'number')).toBe(true);
      await server.createDatabase('named');
      await server.run('named', 'CREATE TABLE customer (id integer PRIMARY KEY)');
      const [only, ...others] = await openDatabase(context, parseUrl(server.url('named'))).connect.listTables();
      expect(only?.name).toBe(`${source.engine.id === 'mysql' ? 'named' : 'public'}.customer`);
      expect(others).toEqual([]);
    },
    LIMIT,
  );

  it(
    'keeps the replaced database, and undo restores it, and a second undo reverts that',
    async () => {
      const context = contextFor();
      await server.run('copy', 'CREATE TABLE mine (id integer PRIMARY KEY)');
      const mine = await server.dump('copy');
      const result = await loadApp(context);
      expect(result.undo_database).toBe('copy.tool-undo');
      const shadow = await server.dump('copy');
      expect(shadow).toBe(await server.dump('source'));
      await applyUndo(context, asData(await planUndo(context, { target: 'app' })));
      expect(await server.dump('copy')).toBe(mine);
      await applyUndo(context, asData(await planUndo(context, { target: 'app' })));
      expect(await server.dump('copy')).toBe(shadow);
      await applyUndo(context, asData(await planUndo(context, { target: 'app' })));
      await loadApp(context);
      await applyUndo(context, asData(await planUndo(context, { target: 'app' })));
      expect(await server.dump('copy')).toBe(mine);
      await loadApp(context, { undo: false });
      expect(await server.databases()).toEqual(expect.arrayContaining(['copy', 'source']));
      expect(await server.databases()).toEqual(expect.not.arrayContaining([expect.stringContaining('.tool-')]));
      await expect(planUndo(context, { target: 'app' })).rejects.toMatchObject({ code: 'nothing_to_undo', exit: 1 });
    },
    LIMIT,
  );

  it(
    'leaves the destination unchanged and no shadow database at any interruption',
    async () => {
      await server.run('copy', 'CREATE TABLE mine (id integer PRIMARY KEY)');
      const before = await server.dump('copy');
      for (const step of ['prepare', 'restore', 'index', 'check']) {
        const interruption = new AbortController();
        const context = contextFor([], interruption.signal);
        const planned = await planLoad(context, { target: 'app', cpus: 2 });
        const interrupting: Context = {
          ...context,
          report: (event) => {
            if (event.event === 'step' && event.step === step) interruption.abort(new Error('interrupted'));
          },
        };
        await expect(applyLoad(interrupting, planned), step).rejects.toThrow('interrupted');
        expect(await server.dump('copy'), step).toBe(before);
        expect(await server.databases(), step).toEqual(['copy', ...(await others()), 'source']);
      }
    },
    LIMIT,
  );

  async function others(): Promise<string[]> {
    return (await server.databases()).filter((name) => !['copy', 'source'].includes(name) && !name.includes('.tool-'));
  }

  it(
    'passes the shadow database before the swap, and drops it on request',
    async () => {
      const context = contextFor();
      const { manifest } = await findSnapshot(context, { target: 'app' });
      const { restore } = openDatabase(context, parseUrl(server.url('copy')));
      const repository = localRepository(context);
      await using pool = createObjectPool(2);
      const before = await server.dump('copy');
      const restoration = { manifest, schemaConfig: undefined, inPlace: false };
      const run = {
        ...restoration,
        plan: await restore.plan(restoration),
        cpus: 1,
        undo: false,
        read: snapshotReader({ manifest, repository, pool, signal: context.signal }),
        beforeSwap: async (shadow: DatabaseUrl) => {
          await server.run(shadow.database ?? '', 'CREATE TABLE added (id integer PRIMARY KEY)');
        },
      };
      const directory = async (): Promise<string> => mkdtemp(join(folder.path, 'restore-'));
      await restore.run({ ...run, directory: await directory(), throwAway: true });
      expect(await server.dump('copy')).toBe(before);
      await restore.run({ ...run, directory: await directory() });
      expect(await server.dump('copy')).toContain('added');
      expect(await server.databases()).toEqual(expect.not.arrayContaining([expect.stringContaining('.tool-')]));
    },
    LIMIT,
  );

  it(
    'refuses a destination that is the source, however its host is written',
    async () => {
      for (const host of ['localhost', '127.0.0.1', '[::1]', '127.1.2.3']) {
        const destdb = server.url('source').replace('127.0.0.1', host);
        await expect(planLoad(contextFor(), { target: 'app', destdb }), host).rejects.toMatchObject({
          code: 'destination_is_source',
          exit: 5,
        });
      }
    },
    LIMIT,
  );

  it(
    'distinguishes the states of a database',
    async () => {
      const check = async (src_url: string) => {
        const context = testContext({
          settings: { working_directory: folder.path, targets: { app: { snapshot: { src_url } } } },
        });
        return checkTarget(context, 'app');
      };
      const reached = await check(server.url('source'));
      expect(reached).toMatchObject({ status: 'ok', error: null, latency_ms: expect.any(Number) });
      expect(reached.size_bytes).toBeGreaterThan(0);
      expect(reached.server_version).toMatch(/^\d+(\.\d+)+$/);
      expect(await check(server.url('nowhere'))).toMatchObject({ status: 'missing' });
      expect(await check(server.deniedUrl('source'))).toMatchObject({ status: 'denied' });
      expect(await check(server.url('source').replace(`:${server.port}`, ':1'))).toMatchObject({
        status: 'unreachable',
      });
    },
    LIMIT,
  );

  it(
    'runs an SQL file in a new database, which takes the place of the old one only when it has run',
    async () => {
      const before = await server.dump('copy');
      const file = join(folder.path, 'script.sql');
      await writeFile(file, FAILING);
      await expect(loadApp(contextFor(), { file })).rejects.toMatchObject({ code: 'script_failed' });
      expect(await server.dump('copy')).toBe(before);
      await writeFile(file, WORKING);
      await loadApp(contextFor(), { file });
      const after = await server.dump('copy');
      expect(after).toContain('from_script');
      expect(after).not.toContain('mine');
      await writeFile(file, 'CREATE TABLE besides (id integer PRIMARY KEY);\n');
      await loadApp(contextFor(), { file, noDrop: true });
      const both = await server.dump('copy');
      expect(both).toContain('from_script');
      expect(both).toContain('besides');
    },
    LIMIT,
  );

  it(
    'shows rows of a snapshot as they are in the source',
    async () => {
      const shown = await readRows(contextFor(), { target: 'app', table: 'shown' });
      expect(shown.columns.map(({ name }) => name)).toEqual(['id', 'code']);
      expect(shown.rows.toSorted()).toEqual([
        ['0', 'NULL'],
        ['1', '漢字\t\n'],
        ['2', null],
        ['3', ''],
      ]);
      const context = contextFor();
      const { manifest } = await findSnapshot(context, { target: 'app' });
      for (const { name, rows } of manifest.tables) {
        const result = await readRows(context, { target: 'app', table: name, limit: 1000 });
        expect([name, result.rows.length]).toEqual([name, Math.min(rows, 1000)]);
        expect(result.rows.every((row) => row.length === result.columns.length)).toBe(true);
      }
    },
    LIMIT,
  );

  it(
    'shows differences in definition and rows of a table, by its key',
    async () => {
      for (const statement of [
        "UPDATE shown SET code = 'changed' WHERE id = 1",
        'DELETE FROM shown WHERE id = 2',
        "INSERT INTO shown VALUES (7, 'new')",
        'CREATE INDEX shown_code ON shown (code)',
      ]) {
        await server.run('source', statement);
      }
      await build(contextFor(), { target: 'app', cpus: 2 });
      const { definition, rows } = await diffTable(contextFor(), { target: 'app', a: 1, b: 0, table: 'shown' });
      const changed = (definition ?? []).filter(({ change, text }) => change !== 'same' && text !== '');
      expect(changed).toContainEqual({ change: 'added', text: expect.stringContaining('shown_code') });
      expect(rows).toMatchObject({ added: 1, removed: 1, changed: 1 });
      expect(rows?.samples).toEqual([
        { change: 'removed', values: ['2', null] },
        { change: 'added', values: ['7', 'new'] },
        { change: 'before', values: ['1', '漢字\t\n'] },
        { change: 'after', values: ['1', 'changed'], changed_columns: ['code'] },
      ]);
    },
    LIMIT,
  );
}
