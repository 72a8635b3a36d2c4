import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { containerRunners } from '../../../src/engines/containers.ts';
import { build } from '../../../src/operations/build/build.ts';
import { reportDocker } from '../../../src/operations/configuration/check/report-docker.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { checkTarget } from '../../../src/operations/targets/targets.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import { localRunner } from '../../../src/process/local.ts';
import type { Runner } from '../../../src/process/runner.ts';
import { stagingRoot } from '../../../src/repository/staging.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { describeWithDocker, IMAGE, startDocker, type TestDocker } from '../../helpers/docker/docker-daemon.ts';
import {
  eventually,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { processesNaming } from '../../helpers/processes/processes.ts';
import { PROGRAM } from '../../helpers/program.ts';

const SAKILA = new URL('../../../../shared/data/sakila-postgres', import.meta.url).pathname;
const PASSWORD = 'hunter2-never-seen';

/** A source whose dump takes as long as it is looked at: a table that somebody has locked. */
const LOCK = 'BEGIN; LOCK TABLE film IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(600)';

describeWithDocker(
  'PostgreSQL with the client programs of an image',
  () => {
    let docker: TestDocker;
    let server: TestPostgres;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let events: RunEvent[];

    beforeAll(async () => {
      [docker, server, folder] = await Promise.all([startDocker(), startPostgres(), temporaryFolder()]);
      await server.createDatabase('sakila');
      await server.psql('postgres', { sql: `CREATE ROLE app SUPERUSER LOGIN PASSWORD '${PASSWORD}'` });
      await server.psql('sakila', { file: `${SAKILA}/schema.sql` });
      await server.psql('sakila', { file: `${SAKILA}/data.sql` });
      const { src_url, dst_url } = urls('pgdocker', 'cli_copy');
      await writeFile(
        join(folder.path, 'tool.yml'),
        JSON.stringify({
          secret_key: 'ab'.repeat(16),
          working_directory: folder.path,
          docker: { images: { postgres: IMAGE } },
          targets: { app: { snapshot: { src_url, dst_url } } },
        }),
        { mode: 0o600 },
      );
    }, 300_000);

    afterAll(async () => {
      await Promise.all([docker?.stop(), server?.stop()]);
      await folder?.[Symbol.asyncDispose]();
    });

    beforeEach(() => {
      events = [];
    });

    function urls(scheme: string, destination: string) {
      const url = (database: string): string =>
        server.url(database).replace(/^\w+:\/\/([^@/]*@)?/, `${scheme}://app:${PASSWORD}@`);
      return { src_url: url('sakila'), dst_url: url(destination) };
    }

    interface Work {
      scheme: string;
      destination: string;
      image?: string | null;
      /** This machine, changed. */
      here?: (runner: Runner) => Runner;
    }

    function contextFor({ scheme, destination, image = IMAGE, here = (runner) => runner }: Work): Context {
      const { environment } = docker;
      const report = (event: RunEvent): void => void events.push(event);
      const local = localRunner({ environment, report });
      const settings = { working_directory: folder.path, targets: { app: { snapshot: urls(scheme, destination) } } };
      const context = { ...testContext({ settings, events }), environment, runner: here(local) };
      const images = image === null ? {} : { postgres: image };
      const workFolders = [stagingRoot(folder.path)];
      return {
        ...context,
        containers: containerRunners({ images, local, environment, report, signal: context.signal, workFolders }),
      };
    }

    /** As if none were installed. */
    function withoutTools(runner: Runner): Runner {
      const lacks = (file: string): boolean => file === '/bin/sh' || file.startsWith('/usr/lib/postgresql');
      return {
        ...runner,
        run: async (command, options) =>
          lacks(command.file) ? { exitCode: 0, stdout: '', stderr: '' } : runner.run(command, options),
      };
    }

    function programs(): string[] {
      return [
        ...new Set(events.flatMap((event) => (event.event === 'command' ? [event.command.split(' ')[0] ?? ''] : []))),
      ];
    }

    it('builds, loads by swap and in place, and undoes in containers when the URL requests it', async () => {
      const context = contextFor({ scheme: 'pgdocker', destination: 'asked' });
      const snapshot = await build(context, { target: 'app', cpus: 2 });
      expect(snapshot.rows).toBeGreaterThan(40_000);
      const planned = await planLoad(context, { target: 'app', cpus: 2 });
      expect(planned.plan.destination.url).toMatch(/^pgdocker:\/\/app@[^:]+:\d+\/asked$/);
      await applyLoad(context, planned);
      const source = await server.dump('sakila');
      expect(await server.dump('asked')).toBe(source);

      await server.psql('asked', { sql: 'DROP TABLE payment CASCADE' });
      await applyLoad(context, await planLoad(context, { target: 'app', inPlace: true, cpus: 2 }));
      expect(await server.dump('asked')).toBe(source);

      await server.psql('asked', { sql: 'CREATE TABLE mine ()' });
      await applyLoad(context, await planLoad(context, { target: 'app', cpus: 2 }));
      await applyUndo(context, await planUndo(context, { target: 'app' }));
      expect(await server.psql('asked', { sql: "SELECT to_regclass('mine')" })).toBe('mine\n');

      await applyLoad(context, await planLoad(context, { target: 'app', tables: ['public.city'], cpus: 2 }));
      const counts = 'SELECT (SELECT count(*) FROM city), (SELECT count(*) FROM country), (SELECT count(*) FROM film)';
      expect(await server.psql('asked', { sql: counts })).toBe('600|109|0\n');

      expect(programs()).toEqual(['docker']);
      expect(
        events.filter((event) => event.event === 'command' && event.command.startsWith('docker run')),
      ).toHaveLength(1);
      expect(JSON.stringify(events)).not.toContain(PASSWORD);
    }, 120_000);

    it('runs an SQL file from anywhere', async () => {
      await using elsewhere = await temporaryFolder();
      const file = join(elsewhere.path, 'it has, a comma.sql');
      await writeFile(file, 'CREATE TABLE from_file AS SELECT 42 AS answer');
      const context = contextFor({ scheme: 'pgdocker', destination: 'scripted' });
      await applyLoad(context, await planLoad(context, { target: 'app', file }));
      expect(await server.psql('scripted', { sql: 'SELECT answer FROM from_file' })).toBe('42\n');
      expect(programs()).toEqual(['docker']);
    });

    it('takes the image where this machine has no client programs', async () => {
      const context = contextFor({ scheme: 'postgres', destination: 'lacking', here: withoutTools });
      await build(context, { target: 'app' });
      await applyLoad(context, await planLoad(context, { target: 'app' }));
      expect(await server.dump('lacking')).toBe(await server.dump('sakila'));
      expect(programs()).toEqual(['docker']);
    }, 60_000);

    it('takes the image where the programs of this machine are too old for the snapshot, and only then', async () => {
      const context = contextFor({ scheme: 'postgres', destination: 'newer' });
      expect(await checkTarget(context, 'app')).toMatchObject({
        status: 'ok',
        src_url: expect.stringMatching(/^postgres:/),
      });
      expect(programs()).not.toContain('docker');
      await build(contextFor({ scheme: 'pgdocker', destination: 'newer' }), { target: 'app' });
      await applyLoad(context, await planLoad(context, { target: 'app' }));
      expect(await server.dump('newer')).toBe(await server.dump('sakila'));
      await expect(
        planLoad(contextFor({ scheme: 'postgres', destination: 'newer', image: null }), { target: 'app' }),
      ).rejects.toMatchObject({ code: 'tools_too_old', hint: expect.stringContaining('docker.images.postgres') });
    }, 60_000);

    it('uses the default image for a URL that asks for a container, and reports an image that cannot be pulled', async () => {
      const none = contextFor({ scheme: 'pgdocker', destination: 'none', image: null });
      expect(await checkTarget(none, 'app')).toMatchObject({ error: expect.stringContaining('image postgres:17') });
      const missing = contextFor({ scheme: 'pgdocker', destination: 'none', image: 'localhost:1/postgres:17' });
      expect(await checkTarget(missing, 'app')).toMatchObject({
        status: 'unreachable',
        error: 'Cannot pull the image localhost:1/postgres:17',
      });
    });

    it('reports the same facts of the server from inside the container', async () => {
      const context = contextFor({ scheme: 'pgdocker', destination: 'nowhere' });
      await expect(planLoad(context, { target: 'app', destdb: 'pgdocker://app@localhost:1/x' })).rejects.toMatchObject({
        code: 'unreachable',
        exit: 4,
      });
      await expect(
        planLoad(context, { target: 'app', destdb: urls('postgres', 'sakila').src_url }),
      ).rejects.toMatchObject({ code: 'destination_is_source' });
    });

    it('is reported by config check: the daemon, whether the image is present, and its programs', async () => {
      const { runner, report, signal, clock, environment } = contextFor({ scheme: 'pgdocker', destination: 'none' });
      const given = { runner, report, signal, clock, environment };
      expect(await reportDocker({ ...given, images: { postgres: IMAGE } })).toEqual({
        ok: true,
        name: expect.stringMatching(/^Docker \d+\./),
        error: null,
        hint: null,
        images: [
          {
            ...{ id: 'postgres-docker', image: IMAGE, present: true, ok: true, error: null },
            tools: ['pg_dump', 'pg_restore', 'psql'].map((name) => ({
              ...{ name, path: `/usr/lib/postgresql/18/bin/${name}`, version: expect.stringMatching(/^18\.\d+$/) },
            })),
          },
        ],
      });
      expect(await reportDocker({ ...given, images: { postgres: 'localhost:1/postgres:17' } })).toMatchObject({
        ok: true,
        images: [{ present: false, tools: [] }],
      });
      expect(await reportDocker({ ...given, images: {} })).toMatchObject({ ok: true, images: [] });
      const notInstalled = localRunner({ environment: { PATH: folder.path }, report });
      expect(await reportDocker({ ...given, runner: notInstalled, images: {} })).toBe(null);
      const nobody = { ...environment, DOCKER_HOST: `unix://${folder.path}/nobody.sock` };
      const offline = localRunner({ environment: nobody, report });
      expect(await reportDocker({ ...given, runner: offline, images: { postgres: IMAGE } })).toMatchObject({
        ok: false,
        name: null,
        error: expect.stringContaining('does not answer'),
        hint: expect.stringContaining('docker info'),
      });
    });

    function startBuild(): ChildProcess {
      const args = [PROGRAM, '--config', join(folder.path, 'tool.yml'), '--json', 'build', 'app'];
      return spawn(process.execPath, args, {
        detached: true,
        stdio: ['ignore', 'pipe', 'ignore'],
        env: docker.environment,
      });
    }

    /** A build that waits in pg_dump, held up by a lock. */
    async function heldBuild(): Promise<{ child: ChildProcess; exit: Promise<unknown[]>; letGo: () => Promise<void> }> {
      const lock = server.psql('sakila', { sql: LOCK });
      lock.catch(() => {});
      const sleeping = "FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()";
      await eventually(async () => (await server.psql('postgres', { sql: `SELECT count(*) ${sleeping}` })) === '1\n');
      const child = startBuild();
      const exit = once(child, 'exit');
      const waiting = `SELECT count(*) > 0 FROM pg_locks WHERE NOT granted`;
      await eventually(async () => (await server.psql('postgres', { sql: waiting })) === 't\n', { deadline: 30_000 });
      return {
        child,
        exit,
        async letGo() {
          await server.psql('postgres', { sql: `SELECT pg_terminate_backend(pid) ${sleeping}` });
          await lock.catch(() => {});
        },
      };
    }

    it('ends with its process: done, cancelled, killed; nothing survives, and no argument holds the password', async () => {
      const done = startBuild();
      expect(await once(done, 'exit')).toEqual([0, null]);
      await eventually(async () => (await docker.containers()).length === 0);

      const ends: { signal: NodeJS.Signals; group: boolean; outcome: unknown[] }[] = [
        { signal: 'SIGINT', group: true, outcome: [130, null] },
        { signal: 'SIGTERM', group: false, outcome: [143, null] },
        { signal: 'SIGKILL', group: false, outcome: [null, 'SIGKILL'] },
        { signal: 'SIGKILL', group: true, outcome: [null, 'SIGKILL'] },
      ];
      for (const { signal, group, outcome } of ends) {
        const { child, exit, letGo } = await heldBuild();
        expect(await docker.containers()).toHaveLength(1);
        expect(await processesNaming(PASSWORD)).toEqual([]);
        const [name = ''] = await docker.containers();
        expect(await docker.docker('inspect', name)).not.toContain(PASSWORD);
        process.kill(group ? -(child.pid ?? 0) : (child.pid ?? 0), signal);
        expect(await exit).toEqual(outcome);
        await eventually(async () => (await docker.containers()).length === 0);
        await eventually(async () => (await processesNaming('pg_dump')).length === 0);
        await letGo();
      }
      const next = startBuild();
      expect(await once(next, 'exit')).toEqual([0, null]);
      expect(await readdir(stagingRoot(folder.path))).toEqual([]);
    }, 120_000);
  },
  { files: SAKILA },
);
