import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../../../src/engines/open-database.ts';
import { parseUrl } from '../../../../src/engines/registry.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { findSnapshot } from '../../../../src/operations/snapshots/snapshots.ts';
import type { RunEvent } from '../../../../src/results/events.ts';
import type { Context } from '../../../../src/runtime/context.ts';
import { itIf } from '../../../helpers/it-if.ts';
import { describeWithMysql, startMysql, type TestMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';

const SAKILA = new URL('../../../../../shared/data/sakila-mysql', import.meta.url).pathname;
/** Real servers on a busy machine take their time. */
const LIMIT = 240_000;
const FLAVOURS = testedFlavours('mariadb');

/** What a dump says of everything but rows. */
function withoutRows(dump: string): string {
  return dump.replaceAll(/^INSERT INTO .*?;\n(?=\/\*!40000 ALTER TABLE)/gms, '');
}

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a snapshot of Sakila', files: SAKILA }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startMysql(flavour);
      await server.file('', `${SAKILA}/schema.sql`);
      await server.file('', `${SAKILA}/data.sql`);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    function contextFor(src_url: string, { events = [] }: { events?: RunEvent[] } = {}): Context {
      const snapshot = { src_url, dst_url: server.url('copy') };
      const targets = { sakila: { snapshot }, old: { snapshot } };
      return testContext({ settings: { working_directory: folder.path, targets }, events });
    }

    it(
      'is restored so that both are dumped alike',
      async () => {
        const context = contextFor(server.url('sakila'));
        const row = await build(context, { target: 'sakila', cpus: 2 });
        expect(row).toMatchObject({ tables: 16, rows: 47_273, schemas: ['sakila'] });
        await applyLoad(context, await planLoad(context, { target: 'sakila', cpus: 2 }));
        expect(await server.dump('copy')).toBe(await server.dump('sakila'));
      },
      LIMIT,
    );

    it(
      'is loaded in part: the tables that are named with what they refer to, the others empty',
      async () => {
        const context = contextFor(server.url('sakila'));
        const destdb = server.url('part');
        const request = { target: 'sakila', tables: ['sakila.city,sakila.film_text'], destdb, cpus: 2 };
        const planned = await planLoad(context, request);
        expect(planned.plan.selection?.needed).toEqual([
          { table: 'sakila.country', needed_by: 'sakila.city', why: 'reference' },
        ]);
        expect(await applyLoad(context, planned)).toMatchObject({ tables: 3, rows: 600 + 1000 + 109 });
        const { empty = [] } = planned.plan.selection ?? {};
        expect(empty).toHaveLength(13);
        const counts = empty.map((name) => `SELECT COUNT(*) AS counted FROM ${name.replace('sakila.', '')}`);
        const counted = await server.sql<{ counted: number }>('part', counts.join(' UNION ALL '));
        expect(counted.every((row) => Number(row.counted) === 0)).toBe(true);
        // Indexes, foreign keys, views, triggers, routines and counters are all there.
        expect(withoutRows(await server.dump('part'))).toBe(withoutRows(await server.dump('sakila')));
      },
      LIMIT,
    );

    it(
      'is loaded in part by references that go round: a store has a manager, who works in a store',
      async () => {
        const context = contextFor(server.url('sakila'));
        const request = { target: 'sakila', tables: ['sakila.store'], destdb: server.url('part'), cpus: 2 };
        const { selection } = (await planLoad(context, request)).plan;
        expect(selection?.needed.map(({ table }) => table).sort()).toEqual([
          'sakila.address',
          'sakila.city',
          'sakila.country',
          'sakila.staff',
        ]);
        await expect(planLoad(context, { ...request, tables: ['stor'] })).rejects.toMatchObject({
          code: 'table_unknown',
          details: [expect.stringMatching(/^stor: did you mean sakila\.store\b/)],
        });
      },
      LIMIT,
    );

    it(
      'is built by one worker, with a warning, when the user may not lock',
      async () => {
        await server.sql(
          '',
          "CREATE USER reader@'%' IDENTIFIED BY 'secret'",
          "GRANT SELECT, SHOW VIEW, TRIGGER, EVENT, EXECUTE ON sakila.* TO reader@'%'",
        );
        const events: RunEvent[] = [];
        const context = contextFor(server.url('sakila', { name: 'reader', password: 'secret' }), { events });
        const row = await build(context, { target: 'sakila', cpus: 2 });
        expect(row).toMatchObject({ tables: 16, rows: 47_273 });
        expect(events).toContainEqual(expect.objectContaining({ event: 'warning', code: 'lock_refused' }));
      },
      LIMIT,
    );

    it(
      'warns of tables without transactions, which are not of its instant',
      async () => {
        await server.createDatabase('old');
        await server.sql('old', 'CREATE TABLE old_engine (id INT PRIMARY KEY) ENGINE = MyISAM');
        const events: RunEvent[] = [];
        await build(contextFor(server.url('old'), { events }), { target: 'old' });
        const message = expect.stringContaining('old_engine (MyISAM)');
        expect(events).toContainEqual({ event: 'warning', code: 'not_transactional', message });
      },
      LIMIT,
    );

    it(
      'is not loaded by a user who may make no second database, and says which right is missing',
      async () => {
        await server.sql(
          '',
          "CREATE USER narrow@'%' IDENTIFIED BY 'secret'",
          'CREATE DATABASE narrow',
          "GRANT ALL ON narrow.* TO narrow@'%'",
        );
        const context = contextFor(server.url('sakila'));
        const destdb = server.url('narrow', { name: 'narrow', password: 'secret' });
        const planned = await planLoad(context, { target: 'sakila', destdb });
        await expect(applyLoad(context, planned)).rejects.toMatchObject({ code: 'may_not_create', exit: 1 });
        expect(await server.sql('narrow', 'SHOW TABLES')).toEqual([]);
      },
      LIMIT,
    );

    itIf(flavour === 'mariadb')(
      'is refused by a server whose disk has no room, before anything is touched',
      async () => {
        const context = contextFor(server.url('sakila'));
        const { manifest } = await findSnapshot(context, { target: 'sakila' });
        const tables = manifest.tables.map((table) => ({ ...table, file: { ...table.file, bytes: 1e18 } }));
        const { restore } = openDatabase(context, parseUrl(server.url('copy')));
        const request = { manifest: { ...manifest, tables }, schemaConfig: undefined, inPlace: false };
        await expect(restore.plan(request)).rejects.toMatchObject({ code: 'space_short', exit: 1 });
      },
      LIMIT,
    );

    it(
      'is not loaded in place, where nothing could be rolled back',
      async () => {
        const context = contextFor(server.url('sakila'));
        await expect(planLoad(context, { target: 'sakila', inPlace: true })).rejects.toMatchObject({
          code: 'in_place_impossible',
          exit: 5,
        });
      },
      LIMIT,
    );
  });
}

describeWithMysql('mysql', { name: 'snapshots of one flavour for the other' }, () => {
  let mysql: TestMysql;
  let mariadb: TestMysql;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    [mysql, mariadb] = await Promise.all([startMysql('mysql'), startMysql('mariadb')]);
  }, 240_000);

  afterAll(async () => {
    await Promise.all([mysql?.stop(), mariadb?.stop()]);
    await folder?.[Symbol.asyncDispose]();
  });

  async function planAcross({ from, to, tables }: { from: TestMysql; to: TestMysql; tables: string[] }) {
    await from.sql('', 'DROP DATABASE IF EXISTS source', 'CREATE DATABASE source CHARACTER SET latin1');
    await from.sql('source', ...tables);
    const snapshot = { src_url: from.url('source'), dst_url: to.url('copy') };
    const context = testContext({ settings: { working_directory: folder.path, targets: { app: { snapshot } } } });
    await build(context, { target: 'app' });
    return { context, planned: await planLoad(context, { target: 'app' }) };
  }

  it(
    'are refused with the reason, before anything is touched',
    async () => {
      const collation = 'CREATE TABLE t (name VARCHAR(10)) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci';
      await expect(planAcross({ from: mysql, to: mariadb, tables: [collation] })).rejects.toMatchObject({
        code: 'flavour_differs',
        details: [expect.stringContaining('utf8mb4_0900_ai_ci')],
      });
      const generated = 'CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (a * 2) STORED)';
      for (const [from, to] of [
        [mysql, mariadb],
        [mariadb, mysql],
      ] as const) {
        await expect(planAcross({ from, to, tables: [generated] })).rejects.toMatchObject({
          code: 'flavour_differs',
          details: ['generated columns (t)'],
        });
      }
      expect(await mariadb.databases()).toEqual(['source']);
    },
    LIMIT,
  );

  it(
    'go across when nothing in them is of one flavour only',
    async () => {
      const tables = [
        'CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(10), KEY (name)) CHARACTER SET latin1',
        "INSERT INTO t (name) VALUES ('a'), ('b')",
      ];
      for (const [from, to] of [
        [mysql, mariadb],
        [mariadb, mysql],
      ] as const) {
        const { context, planned } = await planAcross({ from, to, tables });
        await applyLoad(context, planned);
        expect(await to.sql('copy', 'SELECT id, name FROM t ORDER BY id')).toEqual([
          { id: 1, name: 'a' },
          { id: 2, name: 'b' },
        ]);
      }
    },
    LIMIT,
  );
});
