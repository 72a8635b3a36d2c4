import { afterAll, beforeAll, expect, it } from 'vitest';
import { containerRunners } from '../../../src/engines/containers.ts';
import type { EngineId } from '../../../src/engines/list.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applySanitize, planSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import { localRunner } from '../../../src/process/local.ts';
import type { Runner } from '../../../src/process/runner.ts';
import { stagingRoot } from '../../../src/repository/staging.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { describeWithDocker, startDocker, type TestDocker } from '../../helpers/docker/docker-daemon.ts';
import { importServersImage, SERVERS_IMAGE } from '../../helpers/docker/server-image.ts';
import { startMysql, type TestMysql } from '../../helpers/mysql/mysql-server.ts';
import {
  eventually,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';

const FILL = `CREATE TABLE person (id integer PRIMARY KEY, email varchar(80));
INSERT INTO person VALUES (1, 'ada@real.example.org'), (2, 'bob@real.example.org')`;

describeWithDocker('sanitizing where there are no server programs, but an image with them', () => {
  let docker: TestDocker;
  let postgres: TestPostgres;
  let mysql: TestMysql;

  beforeAll(async () => {
    [docker, postgres, mysql] = await Promise.all([startDocker(), startPostgres(), startMysql('mariadb')]);
    await importServersImage(docker.environment);
    await postgres.createDatabase('source');
    await postgres.psql('source', { sql: FILL });
    await mysql.createDatabase('source');
    await mysql.sql('source', ...FILL.split(';'));
  }, 300_000);

  afterAll(() => Promise.all([docker?.stop(), postgres?.stop(), mysql?.stop()]));

  /** As if no server were installed. */
  function withoutServers(runner: Runner): Runner {
    const looks = (words: string[]): boolean => words.some((word) => /initdb|mariadbd/.test(word));
    return {
      ...runner,
      run: async (command, options) =>
        looks(command.args) ? { exitCode: 1, stdout: '', stderr: '' } : runner.run(command, options),
    };
  }

  const ENGINES: { engine: EngineId; source: () => string }[] = [
    { engine: 'postgres', source: () => postgres.url('source') },
    { engine: 'mysql', source: () => mysql.url('source') },
  ];

  it.each(ENGINES)(
    '$engine runs in a container of its own, which is gone when it was used',
    async ({ engine, source }) => {
      await using folder = await temporaryFolder();
      const events: RunEvent[] = [];
      const report = (event: RunEvent): void => void events.push(event);
      const { environment } = docker;
      const local = localRunner({ environment, report });
      const target = {
        snapshot: { src_url: source() },
        sanitize: { override_query: "UPDATE person SET email = concat('p', id, '@example.com')" },
      };
      const settings = { working_directory: folder.path, targets: { app: target } };
      const base = { ...testContext({ settings, events }), environment, runner: withoutServers(local) };
      const images = { [engine]: SERVERS_IMAGE };
      const workFolders = [stagingRoot(folder.path)];
      const context: Context = {
        ...base,
        containers: containerRunners({ images, local, environment, report, signal: base.signal, workFolders }),
      };
      await build(context, { target: 'app' });
      const planned = await planSanitize(context, { target: 'app' });
      expect(planned.plan.where).toBe(`a throw-away server in a container of docker.images.${engine}`);
      const { coverage, destination } = await applySanitize(context, planned);
      expect(destination).toBe(null);
      expect(coverage.tables).toEqual([expect.objectContaining({ state: 'changed', rows_before: 2, rows_after: 2 })]);
      expect(coverage.findings).toEqual([]);
      const runs = events.filter((event) => event.event === 'command' && event.command.startsWith('docker run'));
      expect(runs).toHaveLength(1);
      expect(JSON.stringify(runs)).not.toContain('type=bind');
      await eventually(async () => (await docker.containers()).length === 0, { deadline: 20_000 });
    },
    120_000,
  );
});
