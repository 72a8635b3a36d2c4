import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { describeWithMysql, startMysql, type TestMysql } from '../helpers/mysql/mysql-server.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

const USER = { name: 'ann', password: 'not-for-others-9f' };

describeWithMysql('mariadb', { name: 'the screens' }, () => {
  let server: TestMysql;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let terminal: TestTerminal | undefined;

  beforeAll(async () => {
    await build();
    [folder, server] = await Promise.all([temporaryFolder(), startMysql('mariadb')]);
    await server.createDatabase('shop');
    await server.sql(
      'shop',
      'CREATE TABLE customer (id int PRIMARY KEY)',
      'INSERT INTO customer SELECT seq FROM seq_1_to_1234',
      `CREATE USER ${USER.name} IDENTIFIED BY '${USER.password}'`,
      `GRANT ALL ON *.* TO ${USER.name} WITH GRANT OPTION`,
    );
    const text = [
      `secret_key: ${'0123456789abcdef'.repeat(2)}\nworking_directory: ${join(folder.path, 'work')}\ntargets:\n`,
      `  shop:\n    snapshot: { src_url: "${server.url('shop', USER)}", dst_url: "${server.url('copy', USER)}" }\n`,
    ].join('');
    await writeFile(join(folder.path, 'tool.yml'), text, { mode: 0o600 });
  });

  afterEach(() => terminal?.close());

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  /** The clients on the PATH, which write down their command lines: their own one they overwrite at once. */
  async function recordedClients(): Promise<{ PATH: string; lines(): Promise<string[]> }> {
    const programs = join(folder.path, 'programs');
    const record = join(folder.path, 'command-lines');
    await mkdir(programs);
    for (const name of ['mariadb', 'mysql']) {
      const text = `#!/bin/sh\necho "$0 $*" >> '${record}'\nexec /usr/bin/mariadb "$@"\n`;
      await writeFile(join(programs, name), text, { mode: 0o755 });
    }
    return {
      PATH: `${programs}:${process.env.PATH}`,
      lines: async () => (await readFile(record, 'utf8')).trim().split('\n'),
    };
  }

  it('open the client on the loaded destination, without a password in its command line, and come back', async () => {
    const { PATH, lines } = await recordedClients();
    terminal = openTerminal({
      command: [process.execPath, PROGRAM],
      cwd: folder.path,
      environment: { PATH, TOOL_TRUST: 'true', HOME: folder.path, XDG_CACHE_HOME: folder.path },
    });
    await terminal.waitFor('✓ up');
    terminal.press('b');
    await terminal.waitFor('Built snapshot 0 of shop');
    terminal.press('esc');
    await terminal.waitFor('1 target');
    terminal.press('enter');
    await terminal.waitFor('1 snapshot');
    terminal.press('l');
    await terminal.waitFor('❯ Cancel');
    terminal.press('down', 'enter');
    await terminal.waitFor('✓ copy ');
    await terminal.waitFor('open client');
    const before = terminal.screen();

    terminal.press('!');
    await terminal.waitFor(/\[copy\]> *$/m);
    expect(terminal.modes()).toMatchObject({ alternateScreen: false, autowrap: true });
    const commands = await lines();
    expect(commands.filter((line) => line.includes('--database=copy'))).toHaveLength(1);
    expect(commands.filter((line) => line.includes(USER.password))).toEqual([]);
    terminal.press('SELECT count(*) FROM customer;', 'enter');
    await terminal.waitFor(/\| +1234 \|/);
    terminal.press('exit', 'enter');
    await terminal.waitFor('✓ copy ');
    expect(terminal.modes()).toMatchObject({ alternateScreen: true, autowrap: false });
    await expect.poll(() => terminal?.screen()).toBe(before);
    terminal.press('esc');
    await terminal.waitFor('1 snapshot');
  });
});
