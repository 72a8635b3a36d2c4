import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { connectToServer } from '../../../src/engines/mysql/connection/connect.ts';
import { whileAlive } from '../../../src/engines/mysql/connection/keep-alive.ts';
import { type MysqlSession, openSession } from '../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';
import { databaseExists, lockDestination, verifyLock } from '../../../src/engines/mysql/server/server.ts';
import { createShadowDatabase } from '../../../src/engines/mysql/swap/shadow-databases.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import { describeWithMysql, startMysql, type TestMysql, testedFlavours } from '../../helpers/mysql/mysql-server.ts';
import { eventually, temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

const COLLATIONS = { charset: 'utf8mb4', collation: 'utf8mb4_general_ci' };
/** Both take minutes: MySQL in the full suite. */
const FLAVOURS = testedFlavours('mariadb');

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'databases with the names that loads use' }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startMysql(flavour);
      await server.createDatabase('source');
      await server.sql('source', 'CREATE TABLE item (id INT PRIMARY KEY)', 'INSERT INTO item VALUES (1), (2)');
      await build(contextFor(), { target: 'app' });
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    afterEach(async () => {
      for (const name of await server.databases()) {
        if (name !== 'source') await server.sql('', `DROP DATABASE \`${name}\``);
      }
    });

    function contextFor(events: RunEvent[] = []) {
      const snapshot = { src_url: server.url('source'), dst_url: server.url('app') };
      return testContext({ settings: { working_directory: folder.path, targets: { app: { snapshot } } }, events });
    }

    async function loadApp(request: Partial<LoadRequest> = {}): Promise<RunEvent[]> {
      const events: RunEvent[] = [];
      const context = contextFor(events);
      await applyLoad(context, await planLoad(context, { target: 'app', cpus: 1, ...request }));
      return events;
    }

    async function occupied(...names: string[]): Promise<void> {
      for (const name of names) {
        await server.createDatabase(name);
        await server.sql(name, 'CREATE TABLE precious (id INT PRIMARY KEY)', 'INSERT INTO precious VALUES (7)');
      }
    }

    it('are unchanged unless the tool created them, in any case', async () => {
      const names = ['App', 'App.tool-new-12345678', 'App.tool-undo', 'app.tool-new-12345678', 'app.tool-new-mine'];
      await occupied(...names);
      await using visitor = await openSession({ url: parseMysqlUrl(server.url('App.tool-new-12345678')) });
      for (const request of [{}, { undo: false }, {}]) {
        const events = await loadApp(request);
        expect(events).toContainEqual(
          expect.objectContaining({ code: 'leftover', message: expect.stringContaining('app.tool-new-12345678') }),
        );
      }
      expect(await visitor.query('SELECT id FROM precious')).toEqual([{ id: 7 }]);
      for (const name of names) expect(await server.sql(name, 'SELECT id FROM precious'), name).toEqual([{ id: 7 }]);
    });

    it('are not the destination when they differ from it in case', async () => {
      await occupied('App');
      await using session = await connectToServer(contextFor(), parseMysqlUrl(server.url('')));
      expect(await databaseExists(session, 'app')).toBe(false);
      const events = await loadApp();
      expect(events.filter(({ event }) => event === 'warning')).toEqual([]);
      expect(await server.sql('App', 'SELECT id FROM precious')).toEqual([{ id: 7 }]);
      expect(await server.databases()).toEqual(expect.arrayContaining(['App', 'app', 'source']));
      // Nor are its tables, in a snapshot of the other.
      await server.sql('App', 'CREATE TABLE item (id INT, other INT)', 'CREATE VIEW seen AS SELECT id FROM item');
      const planned = await planLoad(contextFor(), { target: 'app' });
      expect(planned.plan.destination.size_bytes).toBeGreaterThan(0);
      const built = await build(contextFor(), { target: 'app' });
      expect(built).toMatchObject({ tables: 1, rows: 2 });
    });

    it('stop a load at its start where one has the name of the undo copy', async () => {
      await loadApp();
      await occupied('app.tool-undo');
      await expect(loadApp()).rejects.toMatchObject({ code: 'database_name_taken', exit: 5 });
      await loadApp({ undo: false });
      expect(await server.sql('app.tool-undo', 'SELECT id FROM precious')).toEqual([{ id: 7 }]);
    });

    it('are swept when they have the mark of the tool, and the load goes on when one cannot be dropped', async () => {
      const [gone, stays] = ['app.tool-new-00000001', 'app.tool-new-00000002'];
      await using session = await connectToServer(contextFor(), parseMysqlUrl(server.url('')));
      for (const name of [gone, stays]) {
        await createShadowDatabase(session, { name, destination: 'app', collations: COLLATIONS });
        await server.sql(name, 'CREATE TABLE half (id INT PRIMARY KEY)');
      }
      // The server drops no folder that holds a file of somebody else.
      const foreign = join(server.directory, 'data', 'app@002etool@002dnew@002d00000002', 'foreign.txt');
      await writeFile(foreign, '');
      const events = await loadApp();
      expect(events).toContainEqual(expect.objectContaining({ code: 'leftovers_swept' }));
      expect(events).toContainEqual(
        expect.objectContaining({ code: 'leftover', message: expect.stringContaining(stays) }),
      );
      expect(await server.databases()).not.toContain(gone);
      expect(await server.sql('app', 'SELECT id FROM item')).toHaveLength(2);
      await rm(foreign);
    });

    it('are kept when they hold the undo copy and nothing takes its place', async () => {
      await loadApp();
      await server.sql('app', 'CREATE TABLE mine (id INT PRIMARY KEY)', 'INSERT INTO mine VALUES (5)');
      await loadApp();
      await server.sql('', 'DROP DATABASE app');
      await loadApp();
      expect(await server.databases()).toContain('app.tool-undo');
      const context = contextFor();
      await applyUndo(context, await planUndo(context, { target: 'app' }));
      expect(await server.sql('app', 'SELECT id FROM mine')).toEqual([{ id: 5 }]);
    });

    it('does not follow a forged journal', async () => {
      await occupied('production');
      await loadApp();
      const forged = 'app.tool-new-0badcafe';
      await server.createDatabase(forged);
      const code = { ...COLLATIONS, routines: [], views: [], triggers: [], events: [] };
      const journal = {
        ...{ of: 'app', made: false, before: code, definers: 'theirs', grants: [], obsolete: 'production' },
        after: {
          ...code,
          views: [
            {
              ...{ kind: 'VIEW', name: 'v', create: 'DROP DATABASE production', sql_mode: '' },
              ...{ charset: null, collation: null, time_zone: null },
            },
          ],
        },
      };
      const texts = [JSON.stringify(journal), JSON.stringify({ ...journal, after: code })];
      for (const text of texts) {
        await server.sql(
          forged,
          'DROP TABLE IF EXISTS `tool-journal-moved`',
          'CREATE TABLE `tool-journal-moved` (json LONGTEXT)',
          `INSERT INTO \`tool-journal-moved\` VALUES ('${text.replaceAll("'", "''")}')`,
        );
        await loadApp();
        expect(await server.sql('production', 'SELECT id FROM precious')).toEqual([{ id: 7 }]);
      }
    });

    it('refuses a destination with a table that has a name of the tool’s own', async () => {
      await server.createDatabase('app');
      await server.sql('app', 'CREATE TABLE `tool-kept` (id INT PRIMARY KEY)');
      await expect(loadApp()).rejects.toMatchObject({ code: 'name_reserved', exit: 5 });
    });

    it('refuses a source with such a table, which no load would take', async () => {
      await server.createDatabase('marked');
      await server.sql('marked', 'CREATE TABLE `tool-mark` (id INT PRIMARY KEY)');
      const snapshot = { src_url: server.url('marked') };
      const settings = { working_directory: folder.path, targets: { marked: { snapshot } } };
      const context = testContext({ settings });
      await expect(build(context, { target: 'marked' })).rejects.toMatchObject({ code: 'name_reserved' });
    });

    it('ends the work when the session that holds the lock is lost, and keeps it from being idle', async () => {
      const context = contextFor();
      const url = parseMysqlUrl(server.url(''));
      await using held = await connectToServer(context, url);
      await lockDestination(held, 'app');
      let beats = 0;
      const session: Pick<MysqlSession, 'execute'> = {
        execute: (statement) => {
          beats += 1;
          return held.execute(statement);
        },
      };
      await whileAlive(context, { session, everyMs: 10 }, () => eventually(async () => beats > 3));
      await verifyLock(held, 'app');
      const lost = whileAlive(context, { session, everyMs: 10 }, async ({ signal }) => {
        await server.sql('', `KILL ${held.id}`);
        await eventually(async () => signal.aborted);
        signal.throwIfAborted();
      });
      await expect(lost).rejects.toMatchObject({ name: 'ConnectionLost' });
      await using other = await connectToServer(context, url);
      await expect(verifyLock(other, 'app')).rejects.toMatchObject({ code: 'lock_lost' });
    });
  });
}

describeWithMysql('mariadb', { name: 'a server that takes no notice of case' }, () => {
  let server: TestMysql;

  beforeAll(async () => {
    server = await startMysql('mariadb', ['--lower-case-table-names=1']);
  }, 240_000);

  afterAll(async () => server?.stop());

  it('allows one load at a time into a destination, with any case of its name', async () => {
    const context = testContext({ settings: {} });
    const url = parseMysqlUrl(server.url(''));
    await using first = await connectToServer(context, url);
    await using second = await connectToServer(context, url);
    await lockDestination(first, 'app');
    await expect(lockDestination(second, 'App')).rejects.toMatchObject({ code: 'destination_busy' });
  });

  it('has a leftover swept that another spelling has left', async () => {
    await using folder = await temporaryFolder();
    await server.createDatabase('source');
    await server.sql('source', 'CREATE TABLE item (id INT PRIMARY KEY)');
    const snapshot = { src_url: server.url('Source'), dst_url: server.url('APP') };
    const context = testContext({ settings: { working_directory: folder.path, targets: { app: { snapshot } } } });
    await using session = await connectToServer(context, parseMysqlUrl(server.url('')));
    await createShadowDatabase(session, { name: 'app.tool-new-00000001', destination: 'app', collations: COLLATIONS });
    await build(context, { target: 'app' });
    for (const _ of [1, 2]) await applyLoad(context, await planLoad(context, { target: 'app' }));
    expect(await server.databases()).toEqual(['app', 'app.tool-undo', 'source']);
    await applyUndo(context, await planUndo(context, { target: 'app' }));
  });
});
