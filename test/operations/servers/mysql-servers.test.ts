import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { openSession } from '../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyDown, type DownRequest, planDown } from '../../../src/operations/servers/down/down.ts';
import { listServers } from '../../../src/operations/servers/list/list.ts';
import { serverUrl } from '../../../src/operations/servers/up/text.ts';
import { applyUp, planUp, type UpRequest } from '../../../src/operations/servers/up/up.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { withMysqlServerPrograms } from '../../helpers/mysql/mysql-programs.ts';
import { describeWithMysql, startMysql, type TestFlavour, type TestMysql } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

const SOURCE = [
  'CREATE TABLE customer (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) NOT NULL, note TEXT, KEY (name))',
  "INSERT INTO customer (name) VALUES ('Ada'), ('Grace'), ('Edsger'), ('Barbara')",
  'CREATE TABLE log (what TEXT) ENGINE = MyISAM',
  "INSERT INTO log VALUES ('one'), ('two')",
  'CREATE VIEW named AS SELECT name FROM customer',
  'CREATE FUNCTION twice (n INT) RETURNS INT DETERMINISTIC RETURN n * 2',
  "CREATE PROCEDURE note (who INT) INSERT INTO log VALUES (CONCAT('noted ', who))",
  "CREATE TRIGGER noted AFTER INSERT ON customer FOR EACH ROW INSERT INTO log VALUES ('new')",
  'CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY DO DELETE FROM log',
];

const LABEL = { mariadb: 'MariaDB', mysql: 'MySQL' };
const FLAVOURS: TestFlavour[] = ['mariadb', 'mysql'];

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'servers on images' }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let settings: Partial<Settings>;
    let withServers: (context: Context) => Context = (context) => context;
    const inFolder = (name: string): string[] => readdirSync(join(folder.path, 'work', name));

    beforeAll(async () => {
      folder = await temporaryFolder({ mode: 0o755 });
      server = await startMysql(flavour);
      await server.createDatabase('shop');
      await server.sql('shop', ...SOURCE);
      const snapshot = { src_url: server.url('shop'), dst_url: server.url('loaded') };
      settings = { working_directory: join(folder.path, 'work'), targets: { shop: { snapshot } } };
      mkdirSync(join(folder.path, 'work'));
      if (flavour === 'mysql') {
        const { environment, runner } = await withMysqlServerPrograms(testContext({ settings }), folder.path);
        withServers = (context) => ({ ...context, environment, runner });
      }
      await build(testContext({ settings }), { target: 'shop' });
    }, 120_000);

    afterAll(async () => {
      const { servers } = await listServers(contextOf());
      if (servers.length > 0) await down({});
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    const contextOf = (events: RunEvent[] = []): Context => withServers(testContext({ settings, events }));
    const up = async (request: Partial<UpRequest> = {}) => {
      const events: RunEvent[] = [];
      const planned = await planUp(contextOf(), { target: 'shop', detach: true, ...request });
      const result = await applyUp(contextOf(events), planned);
      const url = events.flatMap((one) => (one.event === 'server' ? [serverUrl(one)] : [])).join();
      return { plan: planned.plan, ...result, url };
    };
    const down = async (request: DownRequest) => applyDown(contextOf(), await planDown(contextOf(), request));
    const recordOf = (id: string): { directory: string } =>
      JSON.parse(readFileSync(join(folder.path, 'work', 'servers', `${id}.json`), 'utf8'));

    it('have what a load of the snapshot has, are independent and end with their files', async () => {
      const first = await up();
      expect(first.plan).toMatchObject({ product: LABEL[flavour], image: 'new' });
      expect(first.plan.steps.at(-1)).toMatch(new RegExp(`^Start ${LABEL[flavour]} [\\d.]+ on it$`));
      await applyLoad(contextOf(), await planLoad(contextOf(), { target: 'shop' }));
      const contents = await contentsOf(first.url);
      expect(contents).toEqual(await contentsOf(server.url('loaded')));
      expect(contents).toHaveLength(7);
      const second = await up();
      expect(second.plan.image).toBe('stored');
      await rowsOf(first.url, 'DELETE FROM customer');
      expect(await rowsOf(second.url, 'SELECT COUNT(*) AS count FROM customer')).toEqual([{ count: 4 }]);
      const uuids = await Promise.all(
        [first, second].map(({ url }) => rowsOf(url, "SHOW VARIABLES LIKE 'server_uu%'")),
      );
      if (flavour === 'mysql') expect(uuids[0]).not.toEqual(uuids[1]);
      const { servers } = await listServers(contextOf());
      expect(servers.map(({ id }) => id).sort()).toEqual([first.server, second.server].sort());
      expect(servers.every(({ memory_bytes }) => memory_bytes !== null && memory_bytes > 1_000_000)).toBe(true);
      const directories = servers.map(({ id }) => recordOf(id).directory);
      expect((await down({ target: 'shop', port: servers[0]?.port })).stopped).toEqual([servers[0]?.id]);
      expect((await down({})).stopped).toEqual([servers[1]?.id]);
      expect(directories.some((directory) => existsSync(directory))).toBe(false);
      expect(inFolder('servers')).toEqual([]);
    }, 120_000);
  });
}

async function rowsOf(url: string, statement: string): Promise<Record<string, unknown>[]> {
  await using session = await openSession({ url: parseMysqlUrl(url) });
  return session.query(statement);
}

/** The statement that creates each object, and the checksum of each table; without the accounts of the two loads. */
async function contentsOf(url: string): Promise<string[]> {
  const { database } = parseMysqlUrl(url);
  const objects = await rowsOf(
    url,
    `SELECT IF(TABLE_TYPE = 'VIEW', 'VIEW', 'TABLE') AS kind, TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = '${database}'
     UNION ALL SELECT ROUTINE_TYPE, ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = '${database}'
     UNION ALL SELECT 'TRIGGER', TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = '${database}'
     UNION ALL SELECT 'EVENT', EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = '${database}' ORDER BY 1, 2`,
  );
  const contents: string[] = [];
  for (const { kind, name } of objects) {
    const facts = [...(await rowsOf(url, `SHOW CREATE ${kind} ${name}`))];
    if (kind === 'TABLE') facts.push(...(await rowsOf(url, `CHECKSUM TABLE ${name}`)));
    contents.push(
      JSON.stringify(facts, (key, value) => (key === 'Created' ? null : value))
        .replaceAll(/DEFINER=`\w+`@`[^`]+`/g, 'DEFINER')
        .replaceAll(`${database}.`, ''),
    );
  }
  return contents;
}
