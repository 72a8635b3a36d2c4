import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { describeWithPostgres, startPostgres, temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const KEY = '0123456789abcdef0123456789abcdef';

describeWithPostgres('the log of a run on a real server', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let password: string;

  beforeAll(async () => {
    ({ password } = new URL(server.url('shop')));
    expect(password).toMatch(/.{8}/);
    await server.createDatabase('shop');
    await server.psql('shop', {
      sql: `CREATE TABLE customer (id integer PRIMARY KEY, name text); INSERT INTO customer VALUES (1, 'Ada');
            CREATE ROLE clerk LOGIN PASSWORD '${password}'; ALTER TABLE customer ENABLE ROW LEVEL SECURITY;
            CREATE POLICY mine ON customer TO clerk USING (true)`,
    });
  });

  async function tool(name: string, settings: string, words: string[]) {
    const work = join(folder.path, name);
    const config = join(folder.path, `${name}.yml`);
    const urls = `{ src_url: "${server.url('shop')}", dst_url: "postgres://postgres:{{\`PW\` | env}}@127.0.0.1:${server.port}/copy" }`;
    const text = `secret_key: ${KEY}\nworking_directory: ${work}\n${settings}targets: { app: { snapshot: ${urls} } }\n`;
    await writeFile(config, text, { mode: 0o600 });
    const environment = { ...process.env, TOOL_TRUST: 'true', HOME: folder.path, PW: password };
    const ended = await promisify(execFile)(process.execPath, [PROGRAM, '--config', config, '--yes', ...words], {
      env: environment,
    });
    const log = await readFile(join(work, 'logs', 'tool.log'), 'utf8').catch(() => null);
    return { ...ended, log };
  }

  it('has with trace every statement and event of a build and a load, and nowhere a password or a key', async () => {
    const outputs = [
      await tool('traced', 'trace: true\n', ['build', 'app']),
      await tool('traced', 'trace: true\n', ['load', 'app', '--json']),
    ];
    const log = outputs[1]?.log ?? '';
    expect(log).toMatch(/ command \S*pg_dump .*\n/);
    expect(log).toMatch(/ command_ended 0 after .*pg_dump/);
    expect(log).toMatch(/ step dump done after /);
    expect(log).toMatch(/ progress \w+ \d+\/\d+ /);
    expect(log).toMatch(/ statement 00000 after .*: BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY\n/);
    expect(log).toMatch(/ statement 00000 after .*: ALTER DATABASE .* RENAME TO "copy"/);
    for (const { stdout, stderr, log } of outputs) {
      expect(`${stdout}${stderr}${log}`).not.toContain(password);
      expect(`${stdout}${stderr}${log}`).not.toContain(KEY);
      expect(`${stdout}${stderr}`).not.toMatch(/statement|\$ /);
    }
  });

  it('has with debug no statement, and standard error has the commands with their time, as with --debug', async () => {
    for (const [settings, words] of [
      ['debug: true\n', ['build', 'app']],
      ['', ['build', 'app', '--debug']],
    ] as const) {
      const { stderr, log } = await tool(`debug${settings.length}`, settings, [...words]);
      expect(stderr).toMatch(/^\$ \S*pg_dump .*--jobs/m);
      expect(stderr).toMatch(/^\$ \S*pg_dump ended with 0, \d+/m);
      expect(log).toMatch(/ command_ended 0 after /);
      expect(log).not.toMatch(/ (statement|progress) /);
    }
  });

  it('contains the error of a run, and an unwritable log is a warning of a run that continues', async () => {
    const failing = tool('failing', 'debug: true\n', ['load', 'app', '7']);
    await expect(failing).rejects.toMatchObject({ code: 2 });
    const log = await readFile(join(folder.path, 'failing', 'logs', 'tool.log'), 'utf8');
    expect(log).toMatch(/ error snapshot_missing: /);
    await mkdir(join(folder.path, 'blocked'));
    await writeFile(join(folder.path, 'blocked', 'logs'), '');
    // The mark of a working directory.
    await writeFile(join(folder.path, 'blocked', 'tool-storage.txt'), '');
    const { stderr, stdout } = await tool('blocked', 'debug: true\n', ['build', 'app']);
    expect(stderr.match(/warning: The log cannot be written/g)).toHaveLength(1);
    expect(stdout).toContain('Built snapshot 0 of app');
  });

  it('is absent unless requested', async () => {
    expect((await tool('quiet', '', ['build', 'app'])).log).toBe(null);
  });
});
