import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { afterEach, expect, it, vi } from 'vitest';
import type { EngineContext } from '../../../../src/engines/engine-context.ts';
import { openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { findServerPrograms, type ServerPrograms } from '../../../../src/engines/mysql/server/server-programs.ts';
import { startThrowAwayServer } from '../../../../src/engines/mysql/server/throw-away-server.ts';
import { describeWithMysql } from '../../../helpers/mysql/mysql-server.ts';
import { eventually, temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { killWhileRunning } from '../../../helpers/processes/kill-while-running.ts';
import { processesNaming } from '../../../helpers/processes/processes.ts';

const HOLDER = new URL('../fixtures/hold-server.ts', import.meta.url).pathname;

afterEach(() => {
  vi.unstubAllEnvs();
});

async function programsFor(context: EngineContext): Promise<ServerPrograms> {
  const [programs] = await findServerPrograms(context);
  if (!programs) throw new Error('there are no server programs');
  return programs;
}

describeWithMysql('mariadb', { name: 'a throw-away server' }, () => {
  it('admits nobody without its password, and leaves neither a process nor a folder when it is stopped', async () => {
    const context = testContext({ settings: {} });
    const server = await startThrowAwayServer(context, await programsFor(context));
    const url = server.url('');
    await using session = await openSession({ url });
    expect(await session.query('SELECT CURRENT_USER() AS me')).toEqual([{ me: 'tool@%' }]);
    for (const user of ['root', 'tool', 'mysql', '']) {
      await expect(openSession({ url: { ...url, user, password: null } }), user).rejects.toThrow();
    }
    await session.close();
    await server[Symbol.asyncDispose]();
    expect(existsSync(server.directory)).toBe(false);
    expect(await processesNaming(server.directory)).toEqual([]);
  }, 60_000);

  it('grants its account rights on its own databases only, by default', async () => {
    const context = testContext({ settings: {} });
    await using server = await startThrowAwayServer(context, await programsFor(context));
    await using session = await openSession({ url: server.url('') });
    await session.execute('CREATE DATABASE `sanitize.tool-new-0`');
    await session.execute('CREATE FUNCTION `sanitize.tool-new-0`.one() RETURNS INT DETERMINISTIC RETURN 1');
    expect(await session.query("SELECT LOAD_FILE('/etc/passwd') AS content")).toEqual([{ content: null }]);
    for (const statement of [
      `SELECT 1 INTO OUTFILE '${server.directory}/written'`,
      'CREATE DATABASE other',
      "CREATE USER other@'%'",
      'SET GLOBAL general_log = 1',
      'SELECT * FROM mysql.user',
      "CREATE FUNCTION f RETURNS STRING SONAME 'x.so'",
      'SHUTDOWN',
    ]) {
      await expect(session.execute(statement), statement).rejects.toMatchObject({ name: 'SqlError' });
    }
    await using allowed = await startThrowAwayServer(context, await programsFor(context), { superuser: true });
    await using superuser = await openSession({ url: allowed.url('') });
    await superuser.execute('CREATE DATABASE other');
  }, 60_000);

  it('leaves nothing when the program that started it is killed with its process group', async () => {
    const child = spawn(process.execPath, [HOLDER], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    const directory = await new Promise<string>((resolve) =>
      child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim())),
    );
    expect(existsSync(directory)).toBe(true);
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await eventually(async () => !existsSync(directory));
    await eventually(async () => (await processesNaming(directory)).length === 0);
  }, 60_000);

  it('leaves nothing when the program is killed while the first files are made', async () => {
    await using folder = await temporaryFolder({ mode: 0o1777 });
    await killWhileRunning(HOLDER, { folder: folder.path, words: '--skip-test-db' });
  }, 60_000);

  it("reports the server's reason why it does not start, and leaves nothing", async () => {
    await using folder = await temporaryFolder({ mode: 0o1777 });
    vi.stubEnv('TMPDIR', folder.path);
    const context = testContext({ settings: {} });
    const programs = { ...(await programsFor(context)), installer: '/bin/false' };
    await expect(startThrowAwayServer(context, programs)).rejects.toMatchObject({ code: 'server_not_started' });
    expect(await readdir(folder.path)).toEqual([]);
  });
});
