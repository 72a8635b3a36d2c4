import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { describeWithMysql, startMysql, type TestMysql } from '../helpers/mysql/mysql-server.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
} from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

describeWithPostgres('a first configuration on a real server', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let terminal: TestTerminal;

  beforeAll(async () => {
    await build();
    server = await startPostgres();
    await server.createDatabase('shop');
    const sql = 'CREATE SCHEMA sales; CREATE TABLE sales.customer AS SELECT i FROM generate_series(1, 2000) i';
    await server.psql('shop', { sql });
  });
  afterEach(async () => {
    terminal.close();
    await folder[Symbol.asyncDispose]();
  });
  afterAll(() => server?.stop());

  async function open(words: string[], size: { columns: number; rows: number }): Promise<void> {
    folder = await temporaryFolder();
    terminal = openTerminal({
      command: [process.execPath, PROGRAM, ...words],
      cwd: folder.path,
      environment: { TOOL_TRUST: 'true', HOME: folder.path, XDG_CACHE_HOME: join(folder.path, 'cache') },
      ...size,
    });
    // Looked for once the screen is there, so that keys are its own by then.
    await terminal.waitFor('✓ PostgreSQL: pg_dump');
    await terminal.waitFor('❯ ./tool.yml (this folder only)');
  }

  /** A question, and the keys that answer it. */
  async function answer(question: string, ...keys: string[]): Promise<void> {
    await terminal.waitFor(question);
    terminal.press(...keys);
  }

  it('is made by keys alone from tool without one, and the first snapshot after it', async () => {
    const { username, password, hostname } = new URL(server.url('shop'));
    await open([], { columns: 80, rows: 24 });
    terminal.press('enter');
    await answer('URL:', 'down', 'enter', hostname, 'enter', String(server.port), 'enter');
    await terminal.waitFor(`URL:      postgres://${hostname}:${server.port}/`);
    terminal.press(username, 'enter', password, 'enter', 'enter');
    await terminal.waitFor(/shop +\d/);
    await answer('❯ postgres', 'down');
    await answer('❯ shop', 'enter');
    await answer('Name: shop', 'enter');
    await terminal.waitFor('[x] sales');
    await answer('❯ Continue with all schemas', 'enter');
    // The same database, by another name of the host.
    const source = `postgres://${username}:${password}@localhost:${server.port}/shop`;
    await answer('Destination:', '\x15', source, 'enter');
    await answer('/shop is the source', '_copy', 'enter');
    await terminal.waitFor('The destination does not exist yet: the first load creates it');
    await answer('❯ Encrypted in the file', 'down');
    await answer('❯ In an environment variable', 'enter');
    await answer('Variable: SHOP_PASSWORD', 'enter');
    await answer('Variable: SHOP_DESTINATION_PASSWORD', 'enter');
    await answer('❯ On this machine only', 'enter');
    await terminal.waitFor('use_default_schema: false');
    expect(terminal.screen()).toContain(`src_url: "postgres://${username}:{{\`SHOP_PASSWORD\` | env}}@`);
    await expect(access(join(folder.path, 'tool.yml'))).rejects.toThrow('ENOENT');
    await answer('Enter write the file', 'enter');
    await answer('❯ Build the first snapshot of shop now', 'enter');
    await terminal.waitFor('Built snapshot 0 of shop');
    const text = await readFile(join(folder.path, 'tool.yml'), 'utf8');
    expect(text).toContain(`dst_url: "postgres://${username}:{{\`SHOP_DESTINATION_PASSWORD\` | env}}@localhost`);
    expect(text).not.toContain(password);
    expect(text).not.toContain('# targets');
    terminal.press('esc');
    await terminal.waitFor('✓ up');
    terminal.press('q');
    expect(await terminal.exited()).toMatchObject({ exitCode: 0 });
  });

  it('is made from tool config init, with the password encrypted, in a small window', async () => {
    await open(['config', 'init'], { columns: 60, rows: 20 });
    terminal.press('enter');
    await answer('URL:', 'postgres://nobody@127.0.0.1:1/shop', 'enter');
    await answer('Connection refused', '\x15', server.url('shop'), 'enter');
    await answer('Name: shop', 'app', 'enter');
    await answer('❯ Continue with all schemas', 'enter');
    await terminal.waitFor('shop_dev');
    await answer('Destination:', 'enter');
    await answer('❯ Encrypted in the file', 'enter');
    await answer('❯ On this machine only', 'enter');
    await answer(':$aes$', 'enter');
    await answer('❯ Build the first snapshot of app now', 'down', 'enter');
    await terminal.waitFor('✓ up');
    const text = await readFile(join(folder.path, 'tool.yml'), 'utf8');
    expect(text).toMatch(/src_url: .*:\$aes\$[0-9a-f]{60,}@.*\/shop\n.*dst_url: .*\/shop_dev\n/);
  });
});

describe('a field of the set-up', () => {
  it('refuses a pasted file, and shows all fields beside the longest text', async () => {
    await build();
    await using screens = await openScreens({ columns: 80, rows: 24 });
    const { terminal, answer } = screens;
    const fields = () => ['URL:', 'Type:', 'Host:', 'Port:', 'User:', 'Password:', 'Database:'];
    const missing = () => fields().filter((field) => !terminal.screen().includes(field));
    await answer('❯ ./tool.yml', 'enter');
    await answer('URL:', paste('x'.repeat(100_000)));
    await terminal.waitFor('Too long for a field: 100,000 characters, at most 8,192');
    expect(terminal.screen()).not.toContain('xxx');
    expect(missing()).toEqual([]);
    terminal.press(paste('y'.repeat(8192)));
    await terminal.waitFor('yyy');
    terminal.press('z');
    await terminal.waitFor('Too long for a field: 8,193 characters');
    expect(missing()).toEqual([]);
    terminal.press('enter');
    await terminal.waitFor('Not a connection URL');
    expect(missing()).toEqual([]);
  });
});

describeWithMysql('mariadb', { name: 'a first configuration' }, () => {
  const PASSWORD = 'p@ss:w/rd';
  let server: TestMysql;

  beforeAll(async () => {
    await build();
    server = await startMysql('mariadb');
    await server.createDatabase('shop');
    await server.createDatabase('漢字');
    await server.sql(
      'shop',
      'CREATE TABLE customer (id integer PRIMARY KEY, name text)',
      "INSERT INTO customer SELECT seq, 'somebody' FROM seq_1_to_2000",
      `CREATE USER clerk IDENTIFIED BY '${PASSWORD}'`,
      'GRANT ALL ON *.* TO clerk',
    );
  });
  afterAll(() => server?.stop());

  it('is put together field by field, one goes back and on again, and nothing is written before the end', async () => {
    await using screens = await openScreens({ columns: 80, rows: 24 });
    const { terminal, answer, file } = screens;
    await answer('❯ ./tool.yml', 'enter');
    await answer('Type:     PostgreSQL', 'down', ' ', 'enter');
    await answer('Port:     3306', '127.0.0.1', 'enter', 'many', 'enter', 'clerk', 'enter', 'wrong', 'enter', 'enter');
    await answer('A port is a number', 'up', 'up', 'up', '\x15', String(server.port), 'enter', 'enter', 'enter');
    await terminal.waitFor(`URL:      mysql://clerk:***@127.0.0.1:${server.port}/`);
    terminal.press('enter');
    await answer('Access denied by', 'up', '\x15', paste(`${PASSWORD}\n`));
    await answer('Password: *********', 'enter', 'enter');
    await terminal.waitFor(/❯ shop +\d+(\.\d+)? [kM]?B[ │]*\n.*漢字/);
    // Back by two questions, whose answers are there still, and on again.
    terminal.press('esc');
    await terminal.waitFor(/Port: +\d+[ │]*\n.*User: +clerk[ │]*\n.*Password: \*{9} /);
    terminal.press('esc');
    await answer('❯ ./tool.yml', 'enter');
    await answer('User:     clerk', 'enter');
    await answer('❯ shop', 'enter');
    await answer('Name: shop', 'enter');
    // There are no schemas to choose from.
    await terminal.waitFor(`mysql://clerk@127.0.0.1:${server.port}/shop `);
    await terminal.waitFor('The source is up: version 10.');
    const other = `mariadb://clerk:${encodeURIComponent(PASSWORD)}@localhost:${server.port}`;
    await answer('Destination:', '\x15', `${other}/shop`, 'enter');
    await answer('is the source: a load would replace it', '_copy', 'enter');
    await terminal.waitFor('The destination does not exist yet');
    await answer('❯ Encrypted in the file', 'enter');
    await answer('❯ On this machine only', 'enter');
    await terminal.waitFor('Enter write the file');
    expect(terminal.screen()).toMatch(/src_url: mysql:\/\/clerk:\$aes\$[0-9a-f]{4}…@127\.0\.0\.1:\d+\/shop +│\n/);
    expect(await file()).toBeNull();
    terminal.press('enter');
    await answer('❯ Build the first snapshot of shop now', 'enter');
    await terminal.waitFor('Built snapshot 0 of shop', 30_000);
    expect(await file()).not.toContain('p%40ss');
    terminal.press('esc');
    await terminal.waitFor('✓ up');
    expect(await server.databases()).not.toContain('shop_copy');
  });

  it('is made from the URL of a server that is pasted, with its password in a variable, at 60×20', async () => {
    await using screens = await openScreens({ columns: 60, rows: 20 });
    const { terminal, answer, file } = screens;
    await answer('❯ ./tool.yml', 'enter');
    const url = server.url('', { name: 'clerk', password: PASSWORD }).replace(/\/$/, '');
    await answer('URL:', paste(`${url}\n`));
    // The end of it is what is seen, and nothing of the password.
    await terminal.waitFor(`@127.0.0.1:${server.port}`);
    expect(terminal.screen()).not.toContain('p%40ss');
    terminal.resize(100, 30);
    await terminal.waitFor(/URL: +mysql:\/\/clerk:\*+@127/);
    terminal.press('enter');
    // The URL names no database: those of the server are offered.
    await answer('❯ shop', 'enter');
    await answer('Name: shop', 'app', 'enter');
    await answer('Destination:', '\x15', 'enter');
    await answer('❯ Encrypted in the file', 'down', 'enter');
    await answer('Variable: APP_PASSWORD', '\x15', '1st', 'enter');
    await answer('not begin with a digit', '\x15', 'SHOP_PW', 'enter');
    await answer('❯ On this machine only', 'enter');
    await terminal.waitFor('clerk:{{`SHOP_PW` | env}}@127.0.0.1');
    terminal.press('enter');
    await answer('export SHOP_PW=…', 'down', 'enter');
    await terminal.waitFor('✓ up');
    expect(await file()).toContain(`src_url: "mysql://clerk:{{\`SHOP_PW\` | env}}@127.0.0.1:${server.port}/shop"`);
  });
});

/** As a terminal sends it when bracketed paste is on. */
function paste(text: string): string {
  return `\x1b[200~${text}\x1b[201~`;
}

/** The program in a folder without a configuration. */
async function openScreens(size: { columns: number; rows: number }) {
  const folder = await temporaryFolder();
  const terminal = openTerminal({
    command: [process.execPath, PROGRAM],
    cwd: folder.path,
    environment: { TOOL_TRUST: 'true', HOME: folder.path, XDG_CACHE_HOME: join(folder.path, 'cache') },
    ...size,
  });
  await terminal.waitFor('✓ MySQL, MariaDB');
  return {
    terminal,
    /** A question, and the keys that answer it. */
    async answer(question: string, ...keys: string[]): Promise<void> {
      await terminal.waitFor(question);
      terminal.press(...keys);
    },
    /** What the configuration says; `null` while there is none. */
    file: () => readFile(join(folder.path, 'tool.yml'), 'utf8').catch(() => null),
    async [Symbol.asyncDispose]() {
      terminal.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
