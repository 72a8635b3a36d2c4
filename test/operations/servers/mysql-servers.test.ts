import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { serverOf } from '../../../src/engines/mysql/catalog/introspect.ts';
import { quoteName } from '../../../src/engines/mysql/connection/quote.ts';
import { openSession } from '../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';
import { onlyAccount } from '../../../src/engines/mysql/images/accounts.ts';
import { images } from '../../../src/engines/mysql/images/images.ts';
import { runServer } from '../../../src/engines/mysql/images/run-server.ts';
import { copyDirectory } from '../../../src/engines/shared/server/copy-directory.ts';
import { freePort } from '../../../src/engines/shared/server/free-port.ts';
import { homeAt } from '../../../src/engines/shared/server/server-home.ts';
import { build } from '../../../src/operations/build/build.ts';
import { findRequested } from '../../../src/operations/load/find-loadable.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyDown, type DownRequest, planDown } from '../../../src/operations/servers/down/down.ts';
import { listServers } from '../../../src/operations/servers/list/list.ts';
import { serverUrl } from '../../../src/operations/servers/up/text.ts';
import { applyUp, planUp, type UpRequest } from '../../../src/operations/servers/up/up.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { itIf } from '../../helpers/it-if.ts';
import { mysqlObjects } from '../../helpers/mysql/mysql-objects.ts';
import { withMysqlServerPrograms } from '../../helpers/mysql/mysql-programs.ts';
import {
  describeWithMysql,
  startMysql,
  type TestFlavour,
  type TestMysql,
  testedFlavours,
} from '../../helpers/mysql/mysql-server.ts';
import { eventually, temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { processesNaming } from '../../helpers/processes/processes.ts';
import { startTool } from '../../helpers/terminal/tool-process.ts';

const SOURCE = [
  'CREATE TABLE customer (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) NOT NULL, note TEXT, KEY (name))',
  "INSERT INTO customer (name) VALUES ('Ada'), ('Grace'), ('Edsger'), ('Barbara')",
  'CREATE TABLE log (what TEXT) ENGINE = MyISAM',
  "INSERT INTO log VALUES ('one'), ('two')",
  'CREATE VIEW named AS SELECT name FROM customer',
  'CREATE FUNCTION twice (n INT) RETURNS INT DETERMINISTIC RETURN n * 2',
  "CREATE PROCEDURE note (who INT) INSERT INTO log VALUES (CONCAT('noted ', who))",
  "CREATE TRIGGER noted AFTER INSERT ON customer FOR EACH ROW INSERT INTO log VALUES ('new')",
  "CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DO DELETE FROM log",
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
      return { plan: planned.plan, ...result, url, events };
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
      for (const account of ['root', 'tool', 'mysql']) {
        const { port } = new URL(first.url);
        await expect(rowsOf(`mysql://${account}@127.0.0.1:${port}/`, 'SELECT 1'), account).rejects.toThrow('denied');
      }
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

    itIf(testedFlavours('mariadb').includes(flavour))(
      'ignore accounts, libraries, settings and events of an image, and refuse all other users while they start',
      async () => {
        const context = contextOf();
        const { manifest } = await findRequested(context, { target: 'shop' });
        const { bin, build: version } = await images.findPrograms(context, manifest);
        const { user } = await images.findHome(context, folder.path);
        const programs = { flavour: serverOf(version).flavour, server: bin };
        const [name = ''] = inFolder('images');
        const data = join(folder.path, 'work', 'images', name, 'data');
        /** Starts a server with these statements on the image itself. */
        const onImage = async (statements: string[]) => {
          await using place = await temporaryFolder();
          if (user) chownSync(place.path, user.uid, user.gid);
          const copy = join(place.path, 'data');
          const whole = { leaveOut: () => false, signal: context.signal };
          await copyDirectory(data, copy, { ...whole, user });
          const server = await runServer(context, {
            ...{ programs, home: homeAt(place.path, user), port: null, detached: false, removes: false },
            ...{ settings: [], database: 'shop', password: 'theirs', statements },
          });
          process.kill(server.pid, 'SIGTERM');
          await server.ended;
          rmSync(data, { recursive: true });
          await copyDirectory(copy, data, whole);
        };
        // A statement that fails ends the start.
        await expect(onImage(['SELECT nothing'])).rejects.toMatchObject({
          code: 'server_not_started',
        });
        await onImage([
          ...onlyAccount(flavour, { database: 'shop', password: 'theirs' }),
          "GRANT ALL ON *.* TO tool@'%' WITH GRANT OPTION",
          "CREATE USER other@'%' IDENTIFIED BY 'theirs'",
          "GRANT ALL ON *.* TO other@'%' WITH GRANT OPTION",
          "INSERT INTO mysql.plugin VALUES ('theirs', 'theirs.so')",
          'ALTER EVENT shop.nightly ON SCHEDULE EVERY 1 SECOND ENABLE DO DROP TABLE shop.log',
        ]);
        const files = [
          'my.cnf',
          'mysqld-auto.cnf',
          'auto.cnf',
          'theirs.so',
          'shop/log.isl',
          'mysql/user.TRG',
          'relay-log.info',
        ];
        for (const file of files) writeFileSync(join(data, file), 'theirs');
        symlinkSync('/etc/passwd', join(data, 'shop', 'link.ibd'));

        const port = await freePort();
        const theirs = (account: string) => `mysql://${account}@127.0.0.1:${port}/`;
        let [tries, isUp] = [0, false];
        const others = (async () => {
          while (!isUp) {
            for (const account of ['root', 'other:theirs', 'tool:theirs', 'tool']) {
              await expect(rowsOf(theirs(account), 'SELECT 1'), account).rejects.toThrow();
              tries += 1;
            }
          }
        })();
        const { server: id, url } = await up({ port }).finally(() => {
          isUp = true;
        });
        await others;
        expect(tries).toBeGreaterThan(4);
        const { directory } = recordOf(id);
        const copied = readdirSync(join(directory, 'data'), { recursive: true, encoding: 'utf8' });
        const read = (file: string) => readFileSync(join(directory, 'data', file), 'utf8');
        // A server makes some of them anew.
        expect(files.filter((file) => copied.includes(file) && read(file) === 'theirs')).toEqual([]);
        expect(copied).not.toContain('shop/link.ibd');
        const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
        expect(entries.filter((entry) => entry.isSocket())).toEqual([]);
        expect(await rowsOf(url, 'SELECT COUNT(*) AS count FROM log')).toEqual([{ count: 2 }]);
        for (const statement of [
          'SELECT * FROM mysql.user',
          'SET GLOBAL event_scheduler = ON',
          "CREATE USER another@'%'",
          "CREATE FUNCTION f RETURNS STRING SONAME 'x.so'",
          "SELECT 1 INTO OUTFILE '/tmp/never'",
          'CREATE DATABASE another',
        ]) {
          await expect(rowsOf(url, statement), statement).rejects.toMatchObject({ name: 'SqlError' });
        }
        await rowsOf(url, 'CREATE DATABASE shop_test');
        await down({});
      },
      120_000,
    );

    itIf(process.env.TEST_FULL === '1')(
      'have objects of every kind as a load has them',
      async () => {
        await server.createDatabase('every');
        await server.script('every', mysqlObjects(flavour));
        const snapshot = { src_url: server.url('every'), dst_url: server.url('every_loaded') };
        settings = { ...settings, targets: { ...settings.targets, every: { snapshot } } };
        await build(contextOf(), { target: 'every' });
        await applyLoad(contextOf(), await planLoad(contextOf(), { target: 'every' }));
        const { url, events } = await up({ target: 'every' });
        const contents = await contentsOf(url);
        const loaded = await contentsOf(server.url('every_loaded'));
        expect(contents.length).toBeGreaterThan(200);
        const onDisk = (text: string) => !text.includes('ENGINE=MEMORY');
        expect(contents.filter(onDisk)).toEqual(loaded.filter(onDisk));
        const message = expect.stringMatching(/: hashed, option_1$/);
        expect(events).toContainEqual(expect.objectContaining({ code: 'definitions_only', message }));
        await down({ target: 'every' });
      },
      240_000,
    );

    it('never run on programs of the other flavour, and on newer ones of their own', async () => {
      const { manifest } = await findRequested(contextOf(), { target: 'shop' });
      const findFor = (server_version: string) => images.findPrograms(contextOf(), { ...manifest, server_version });
      expect((await findFor('8.0.36')).differs).toBe(true);
      await expect(findFor('99.1')).rejects.toMatchObject({
        code: 'server_missing',
        message: expect.stringContaining(`No server programs of ${LABEL[flavour]} 99.1`),
      });
    });
  });
}

describeWithMysql('mariadb', { name: 'servers on images, of a command' }, () => {
  it('end with it, also when it is killed as they start', async () => {
    await using folder = await temporaryFolder();
    const server = await startMysql('mariadb');
    await using _server = { [Symbol.asyncDispose]: () => server.stop() };
    await server.createDatabase('shop');
    await server.sql('shop', ...SOURCE);
    const config = join(folder.path, 'tool.yml');
    const settings = {
      working_directory: join(folder.path, 'work'),
      targets: { shop: { snapshot: { src_url: server.url('shop') } } },
    };
    writeFileSync(config, JSON.stringify({ secret_key: 'ab'.repeat(16), ...settings }), { mode: 0o600 });
    const context = testContext({ settings });
    await build(context, { target: 'shop' });
    const records = () => readdirSync(join(folder.path, 'work', 'servers'));
    const running = '"event":"server"';
    for (const [words, heard, signal] of [
      [['up', 'shop'], running, 'SIGINT'],
      [['up', 'shop'], running, 'SIGKILL'],
      [['up', 'shop', '--detach'], '"step":"start"', 'SIGKILL'],
    ] as const) {
      const run = startTool({ config, words: [...words] });
      await run.said(heard);
      const homes = records().map((name) => `tool-server-${name.slice(0, -'.json'.length)}`);
      run.child.kill(signal);
      const { code, output } = await run.ended;
      expect(code, output).toBe(signal === 'SIGINT' ? 0 : null);
      await eventually(async () => (await listServers(context)).servers.length === 0 && records().length === 0);
      expect(homes).toHaveLength(1);
      for (const home of homes) {
        await eventually(async () => (await processesNaming(home)).length === 0);
        expect(existsSync(join(tmpdir(), home)) || existsSync(join(folder.path, 'work', 'servers', home))).toBe(false);
      }
    }
  }, 120_000);
});

async function rowsOf(url: string, statement: string): Promise<Record<string, unknown>[]> {
  await using session = await openSession({ url: parseMysqlUrl(url) });
  return await session.query(statement);
}

/** The statement that creates each object, and the rows of each table; without the accounts of the two loads. */
async function contentsOf(url: string): Promise<string[]> {
  const { database } = parseMysqlUrl(url);
  const objects = await rowsOf(
    url,
    `SELECT IF(TABLE_TYPE = 'VIEW', 'VIEW', 'TABLE') AS kind, TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = '${database}'
     UNION ALL SELECT ROUTINE_TYPE, ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = '${database}'
     UNION ALL SELECT 'TRIGGER', TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = '${database}'
     UNION ALL SELECT 'EVENT', EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = '${database}' ORDER BY 1, 2`,
  );
  await using session = await openSession({ url: parseMysqlUrl(url) });
  // The server does not show a view that is not valid.
  const read = (statement: string): Promise<unknown[]> =>
    session.query(statement).catch((error) => [{ error: String(error) }]);
  const contents: string[] = [];
  for (const { kind, name } of objects) {
    const facts = await read(`SHOW CREATE ${kind} ${quoteName(String(name))}`);
    // Times and transactions of the load itself.
    if (kind === 'TABLE' && !JSON.stringify(facts).includes('ROW START'))
      facts.push((await read(`SELECT * FROM ${quoteName(String(name))}`)).map((row) => JSON.stringify(row)).sort());
    contents.push(
      JSON.stringify(facts, (key, value) => (key === 'Created' ? null : value))
        .replaceAll(/DEFINER=(`|\\")\w+\1@\1[^`"\\]+\1/g, 'DEFINER')
        .replaceAll(`${database}.`, '')
        .replaceAll(quoteName(database ?? ''), 'DATABASE'),
    );
  }
  return contents.sort();
}
