import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { describeWithPostgres, startPostgres, type TestPostgres, temporaryFolder } from '../helpers/postgres-server.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/tool.js', import.meta.url));

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
      environment: { HOME: folder.path, XDG_CACHE_HOME: join(folder.path, 'cache') },
      ...size,
    });
    // Looked for once the screen is there, so that keys are its own by then.
    await terminal.waitFor('✓ PostgreSQL: pg_dump');
    await terminal.waitFor('❯ In this folder: ./tool.yml');
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
    await answer('Name: app', '\x15', 'shop', 'enter');
    await answer('❯ Type or paste', 'down', 'enter');
    await answer('❯ PostgreSQL', 'enter');
    await answer('Host: localhost', '\x15', hostname, 'enter');
    await answer('Port: 5432', '\x15', String(server.port), 'enter');
    await answer('User:', username, 'enter');
    await answer('Password:', password, 'enter');
    await terminal.waitFor(/shop {2}\d/);
    await answer('❯ postgres', 'down');
    await answer('❯ shop', 'enter');
    await terminal.waitFor('[x] sales');
    await answer('❯ Go on with all of them', 'enter');
    // The same database, by another name of the host.
    const source = `postgres://${username}:${password}@localhost:${server.port}/shop`;
    await answer('Destination:', source, 'enter');
    await answer('/shop is the source', '_copy', 'enter');
    await terminal.waitFor(/the first\s+load creates it/);
    await answer('❯ Encrypted in the file', 'down');
    await answer('❯ In an environment variable', 'enter');
    await answer('Variable: SHOP_PASSWORD', 'enter');
    await answer('Variable: SHOP_DESTINATION_PASSWORD', 'enter');
    await answer('❯ On this machine only', 'enter');
    await terminal.waitFor('use_default_schema: false');
    expect(terminal.screen()).toContain(`src_url: "postgres://${username}:{{\`SHOP_PASSWORD\` | env}}@`);
    await expect(access(join(folder.path, 'tool.yml'))).rejects.toThrow('ENOENT');
    await answer('Enter write the file', 'enter');
    await answer('❯ Take the first snapshot of shop now', 'enter');
    await terminal.waitFor('✓ Built snapshot 0 of shop (1 table, 2,000 rows');
    const text = await readFile(join(folder.path, 'tool.yml'), 'utf8');
    expect(text).toContain(`dst_url: "postgres://${username}:{{\`SHOP_DESTINATION_PASSWORD\` | env}}@localhost`);
    expect(text).not.toContain(password);
    expect(text).not.toContain('# targets');
    terminal.press('esc');
    await terminal.waitFor('✓ up');
    terminal.press('q');
    expect(await terminal.exited).toMatchObject({ exitCode: 0 });
  });

  it('is made from tool config init, with the password encrypted, in a small window', async () => {
    await open(['config', 'init'], { columns: 60, rows: 20 });
    terminal.press('enter');
    await answer('Name: app', 'enter');
    await answer('❯ Type or paste', 'enter');
    await answer('Source:', 'postgres://nobody@127.0.0.1:1/shop', 'enter');
    await answer('Connection refused', '\x15', server.url('shop'), 'enter');
    await answer('❯ Go on with all of them', 'enter');
    await answer('Destination:', 'enter');
    await answer('❯ Encrypted in the file', 'enter');
    await answer('❯ On this machine only', 'enter');
    await answer(':$aes$', 'enter');
    await answer('❯ Take the first snapshot of app now', 'down', 'enter');
    await terminal.waitFor('✓ up');
    expect(await readFile(join(folder.path, 'tool.yml'), 'utf8')).toMatch(/:\$aes\$[0-9a-f]{60,}@/);
  });
});
