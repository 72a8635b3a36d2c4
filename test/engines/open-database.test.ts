import { beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/engines/open-database.ts';
import { parseUrl } from '../../src/engines/registry.ts';
import type { Runner } from '../../src/process/runner.ts';
import { describeWithPostgres, startPostgres, testContext } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

describeWithPostgres('an open database', () => {
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    await server.createDatabase('app');
    await server.psql('app', { sql: 'CREATE TABLE person (id int PRIMARY KEY)' });
  }, 60_000);

  /** A machine on which looking for client programs prints this. */
  function machine(found: (text: string) => string): { runner: Runner; started: string[] } {
    const { runner } = testContext({ settings: {} });
    const started: string[] = [];
    return {
      started,
      runner: {
        ...runner,
        run: async (command, options) => {
          const result = await runner.run(command, options);
          return { ...result, stdout: found(result.stdout) };
        },
        start: (command, options) => {
          started.push(command.file);
          return runner.start(command, options);
        },
      },
    };
  }

  it('runs in a container where this machine has no client programs', async () => {
    const context = testContext({ settings: {} });
    const bare = machine(() => '');
    const database = openDatabase(
      { ...context, runner: bare.runner, containers: () => context.runner },
      parseUrl(server.url('app')),
    );
    expect((await database.connect.listTables()).map(({ name }) => name)).toEqual(['public.person']);
    expect(bare.started).toEqual([]);
  });

  it('runs in a container again where the client programs of this machine are too old', async () => {
    const context = testContext({ settings: {} });
    const old = machine((text) => text.replaceAll(/\) \d+(\.\d+)?/g, ') 9.6'));
    const url = parseUrl(server.url('app'));
    const local = openDatabase({ ...context, runner: old.runner }, url);
    await expect(local.subset.openSource(1)).rejects.toMatchObject({ code: 'tools_too_old' });
    const database = openDatabase({ ...context, runner: old.runner, containers: () => context.runner }, url);
    await using source = await database.subset.openSource(1);
    expect([...source.facts.tables.keys()]).toHaveLength(1);
  });
});
