import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { containerRunners } from '../../../src/engines/containers.ts';
import { build } from '../../../src/operations/build/build.ts';
import { reportDocker } from '../../../src/operations/configuration/check/report-docker.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import { localRunner } from '../../../src/process/local.ts';
import type { Runner } from '../../../src/process/runner.ts';
import { stagingRoot } from '../../../src/repository/staging.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { withDetails } from '../../helpers/databases/build-and-load.ts';
import {
  describeWithDocker,
  IMAGE,
  MYSQL_IMAGE,
  startDocker,
  type TestDocker,
} from '../../helpers/docker/docker-daemon.ts';
import { withProgram } from '../../helpers/mysql/mysql-programs.ts';
import { describeWithMysql, startMysql, type TestFlavour, type TestMysql } from '../../helpers/mysql/mysql-server.ts';
import { eventually, temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { processesNaming } from '../../helpers/processes/processes.ts';
import { PROGRAM } from '../../helpers/program.ts';

const SAKILA = new URL('../../../../shared/data/sakila-mysql', import.meta.url).pathname;
const USER = { name: 'app', password: 'hunter2-never-seen' };

/** Each with the client of its own flavour. */
const COMBINATIONS = [
  { flavour: 'mariadb', image: IMAGE },
  { flavour: 'mysql', image: MYSQL_IMAGE },
] as const satisfies { flavour: TestFlavour; image: string }[];

for (const { flavour, image } of COMBINATIONS) {
  describeWithMysql(flavour, { name: 'with the client program of an image', files: SAKILA }, () => {
    describeWithDocker('in a container', () => {
      let docker: TestDocker;
      let server: TestMysql;
      let folder: Awaited<ReturnType<typeof temporaryFolder>>;
      let events: RunEvent[];

      beforeAll(async () => {
        [docker, server, folder] = await Promise.all([startDocker(image), startMysql(flavour), temporaryFolder()]);
        await server.file('', `${SAKILA}/schema.sql`);
        await server.file('', `${SAKILA}/data.sql`);
        await server.sql(
          '',
          `CREATE USER app@'%' IDENTIFIED BY '${USER.password}'`,
          "GRANT ALL ON *.* TO app@'%' WITH GRANT OPTION",
        );
      }, 300_000);

      afterAll(async () => {
        await Promise.all([docker?.stop(), server?.stop()]);
        await folder?.[Symbol.asyncDispose]();
      });

      beforeEach(() => {
        events = [];
      });

      function url(scheme: string, database: string): string {
        return server.url(database, USER).replace('mysql:', `${scheme}:`).replace('127.0.0.1', 'localhost');
      }

      function contextFor(scheme: string, destination: string, here: (runner: Runner) => Runner = (same) => same) {
        const { environment } = docker;
        const report = (event: RunEvent): void => void events.push(event);
        const local = localRunner({ environment, report });
        const snapshot = { src_url: url(scheme, 'sakila'), dst_url: url(scheme, destination) };
        const settings = { working_directory: folder.path, targets: { app: { snapshot } } };
        const context: Context = { ...testContext({ settings, events }), environment, runner: here(local) };
        const workFolders = [stagingRoot(folder.path)];
        const containers = containerRunners({
          ...{ images: { mysql: image }, local, environment, report, workFolders },
          signal: context.signal,
        });
        return { ...context, containers };
      }

      function commands(): string[] {
        return events.flatMap((event) => (event.event === 'command' ? [event.command] : []));
      }

      it('builds, loads and undoes when the URL asks for it, as without', async () => {
        const source = await server.dump('sakila');
        for (const scheme of ['mydocker', 'mysql']) {
          const context = contextFor(scheme, `copy_${scheme}`);
          const snapshot = await build(context, { target: 'app', cpus: 2 });
          expect(snapshot.rows).toBe(47_273);
          const destdb = `${url(scheme, `copy_${scheme}`)}?definer=keep`;
          const planned = await planLoad(context, { target: 'app', destdb, cpus: 2 });
          expect(planned.plan.destination.url).toMatch(new RegExp(`^${scheme}://app@localhost:\\d+/copy_${scheme}$`));
          await applyLoad(context, planned);
          expect(await server.dump(`copy_${scheme}`)).toBe(source);
        }
        const context = contextFor('mydocker', 'copy_mydocker');
        await server.sql('copy_mydocker', 'CREATE TABLE mine (id INT PRIMARY KEY)');
        await applyLoad(context, await planLoad(context, { target: 'app', cpus: 2 }));
        const mine = source.replaceAll('DEFINER=`root`@`localhost`', 'DEFINER=`app`@`%`');
        expect(await server.dump('copy_mydocker')).toBe(mine);
        await applyUndo(context, await planUndo(context, { target: 'app' }));
        expect(await server.dump('copy_mydocker')).toContain('CREATE TABLE `mine`');
        expect(JSON.stringify(events)).not.toContain(USER.password);
      }, 240_000);

      it('builds with the dump program of the image, and loads with its client', async () => {
        for (const scheme of ['mydocker', 'mysql']) {
          events = [];
          const context = contextFor(scheme, `program_${scheme}`);
          const snapshot = await withDetails(build(withProgram(context, 'app'), { target: 'app' }));
          expect(snapshot).toMatchObject({ rows: 47_273, program: expect.stringMatching(/dump \d+\./) });
          const destdb = `${url(scheme, `program_${scheme}`)}?definer=keep`;
          await withDetails(applyLoad(context, await planLoad(context, { target: 'app', destdb, cpus: 2 })));
          expect(await server.dump(`program_${scheme}`)).toBe(await server.dump('sakila'));
          // The dump program of this machine is MariaDB's.
          const isInContainer = scheme === 'mydocker' || flavour === 'mysql';
          const dumps = commands().filter((command) => command.includes('--single-transaction'));
          expect(dumps.map((command) => command.startsWith('docker '))).toEqual([isInContainer]);
          const clients = commands().filter((command) => command.includes('--binary-mode'));
          expect(new Set(clients.map((command) => command.startsWith('docker ')))).toEqual(new Set([isInContainer]));
          expect(JSON.stringify(events)).not.toContain(USER.password);
        }
        expect(await readdir(stagingRoot(folder.path))).toEqual([]);
      }, 240_000);

      /** Its DELIMITER is the client program's; the tables come from a dump that the flavour's own program made. */
      async function sakilaFile(name: string): Promise<string> {
        const file = join(folder.path, name);
        await writeFile(file, await server.dump('sakila'));
        return file;
      }

      it('runs an SQL file with the client of the image, as with the one of this machine', async () => {
        const file = await sakilaFile('it has, a comma.sql');
        for (const [scheme, program] of [
          ['mydocker', 'docker'],
          ['mysql', '/bin/sh'],
        ] as const) {
          events = [];
          const destination = `file_${scheme}`;
          const context = contextFor(scheme, destination);
          await applyLoad(context, await planLoad(context, { target: 'app', file }));
          expect(await server.dump(destination)).toBe(await server.dump('sakila'));
          expect(new Set(commands().map((command) => command.split(' ')[0]))).toEqual(new Set([program]));
          expect(commands().at(-1)).toContain(' --defaults-file=');
          expect(JSON.stringify(events)).not.toContain(USER.password);
        }
      }, 120_000);

      it('takes the image where this machine has no client program', async () => {
        const lacking = (runner: Runner): Runner => ({
          ...runner,
          run: async (command, options) =>
            command.file === '/bin/sh' ? { exitCode: 0, stdout: '', stderr: '' } : runner.run(command, options),
        });
        const file = join(folder.path, 'one.sql');
        await writeFile(file, 'CREATE TABLE from_file AS SELECT 42 AS answer;\n');
        const context = contextFor('mysql', 'lacking', lacking);
        await applyLoad(context, await planLoad(context, { target: 'app', file }));
        expect(await server.sql('lacking', 'SELECT answer FROM from_file')).toEqual([{ answer: 42 }]);
        expect(new Set(commands().map((command) => command.split(' ')[0]))).toEqual(new Set(['docker']));
      }, 60_000);

      it('is reported by config check', async () => {
        const { runner, report, signal, clock, environment } = contextFor('mydocker', 'none');
        const told = await reportDocker({ runner, report, signal, clock, environment, images: { mysql: image } });
        expect(told?.images).toEqual([
          {
            ...{ id: 'mysql-docker', image, present: true, ok: true, error: null },
            tools: [/^(mysql|mariadb)$/, /^(mysqldump|mariadb-dump)$/].map((name) => ({
              name: expect.stringMatching(name),
              path: expect.any(String),
              version: expect.stringMatching(/^\d+\.\d+/),
            })),
          },
        ]);
      });

      it('ends with its process: cancelled or killed, nothing survives, and no argument holds the password', async () => {
        const file = join(folder.path, 'sleeps.sql');
        await writeFile(file, 'CREATE TABLE made (id INT);\nSELECT SLEEP(600);\n');
        const config = join(folder.path, 'tool.yml');
        const snapshot = { src_url: url('mydocker', 'sakila'), dst_url: url('mydocker', 'ended') };
        await writeFile(
          config,
          JSON.stringify({
            secret_key: 'ab'.repeat(16),
            working_directory: folder.path,
            docker: { images: { mysql: image } },
            targets: { app: { snapshot } },
          }),
          { mode: 0o600 },
        );
        for (const [signal, outcome] of [
          ['SIGINT', [130, null]],
          ['SIGKILL', [null, 'SIGKILL']],
        ] as const) {
          const child = spawn(process.execPath, [PROGRAM, '--config', config, '--yes', '--json', 'load', 'app', file], {
            ...{ detached: true, stdio: ['ignore', 'ignore', 'ignore'], env: docker.environment },
          }) as ChildProcess;
          const exit = once(child, 'exit');
          await eventually(async () => (await sleeping()).length > 0, { deadline: 60_000 });
          expect(await processesNaming(USER.password)).toEqual([]);
          const own = async () => (await docker.containers()).filter((one) => one.startsWith(`tool-${child.pid}-`));
          const [name = ''] = await own();
          expect(await docker.docker('inspect', name)).not.toContain(USER.password);
          process.kill(-(child.pid ?? 0), signal);
          expect(await exit).toEqual(outcome);
          await eventually(async () => (await own()).length === 0);
          // The server notices only at its next write that nobody listens any more.
          for (const { id } of await sleeping()) await server.sql('', `KILL ${id}`);
        }
        const context = contextFor('mydocker', 'ended');
        await writeFile(file, 'CREATE TABLE made (id INT);\n');
        await applyLoad(context, await planLoad(context, { target: 'app', file }));
        expect((await server.databases()).filter((name) => name.startsWith('ended'))).toEqual(['ended']);
        expect(await readdir(stagingRoot(folder.path))).toEqual([]);
      }, 180_000);

      function sleeping(): Promise<{ id: number }[]> {
        return server.sql('', "SELECT ID AS id FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP%'");
      }
    });
  });
}
