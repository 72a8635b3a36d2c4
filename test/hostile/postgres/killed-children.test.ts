import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { applySanitize, planSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';
import { type Death, killingRunner } from '../../helpers/terminal/killing-runner.ts';

const FULL = process.env.TEST_FULL === '1';

const FILL = `
  CREATE TABLE owner (id integer PRIMARY KEY, name text);
  INSERT INTO owner SELECT i, 'owner ' || i FROM generate_series(1, 50) i;
  CREATE TABLE paper (id integer PRIMARY KEY, owner_id integer REFERENCES owner, content oid);
  SELECT lo_from_bytea(70000 + i, decode(md5(i::text), 'hex')) FROM generate_series(1, 5) i;
  INSERT INTO paper SELECT i, i, 70000 + i FROM generate_series(1, 5) i;
  CREATE MATERIALIZED VIEW summary AS SELECT count(*) FROM paper`;

interface Operation {
  name: string;
  /** How many programs it starts that do a piece of work. */
  programs: number;
  /** Those that are killed in a short run; a full one kills all. */
  victims?: number[];
  deaths: Death[];
  run: (context: Context) => Promise<unknown>;
}

describeWithPostgres('a program that is killed', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let before: string;

  function context(): Context {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    const small = {
      src_url: server.url('source'),
      dst_url: server.url('copy'),
      copy_tables: ['public.owner', 'public.paper'],
    };
    const clean = { override_query: "UPDATE owner SET name = 'x'", dst_url: server.url('copy') };
    const targets = { app: { snapshot, sanitize: clean }, small: { subset: small } };
    return testContext({ settings: { working_directory: folder.path, targets } });
  }

  beforeAll(async () => {
    await server.createDatabase('source');
    await server.psql('source', { sql: FILL });
    await server.createDatabase('copy');
    await server.psql('copy', { sql: 'CREATE TABLE precious AS SELECT 1 AS id' });
    await build(context(), { target: 'app', cpus: 1 });
    before = await server.dump('copy');
    await writeFile(join(folder.path, 'script.sql'), 'CREATE TABLE scripted (id integer);\n');
  }, 120_000);

  const loadWith = (request: () => Partial<LoadRequest>) => async (given: Context) =>
    applyLoad(given, await planLoad(given, { target: 'app', cpus: 1, ...request() }));
  const operations: Operation[] = [
    {
      name: 'build',
      programs: 1,
      deaths: ['after its work'],
      run: (given) => build(given, { target: 'app', cpus: 1 }),
    },
    {
      name: 'load',
      programs: 4,
      victims: [0, 1, 2],
      deaths: FULL ? ['at its start', 'after its input', 'after its work'] : ['after its work'],
      run: loadWith(() => ({})),
    },
    {
      name: 'load that goes on after errors',
      programs: 4,
      victims: [1],
      deaths: FULL ? ['at its start', 'after its input', 'after its work'] : ['after its work'],
      run: loadWith(() => ({ keepGoing: 'swap' })),
    },
    {
      name: 'load in place',
      programs: 4,
      victims: [1, 3],
      deaths: FULL ? ['at its start', 'after its input'] : ['after its input'],
      run: loadWith(() => ({ inPlace: true })),
    },
    {
      name: 'load of a table',
      programs: 4,
      victims: [0],
      deaths: ['after its work'],
      run: loadWith(() => ({ tables: ['public.owner'] })),
    },
    {
      name: 'load of a script',
      programs: 1,
      // After its work, the server has acknowledged the COMMIT.
      deaths: ['at its start', 'after its input'],
      run: loadWith(() => ({ file: join(folder.path, 'script.sql') })),
    },
    {
      name: 'subset',
      programs: 7,
      victims: [2, 3, 6],
      deaths: ['after its work'],
      run: async (given) => applySubset(given, await planSubset(given, { target: 'small', cpus: 1 })),
    },
    ...(FULL
      ? [
          {
            name: 'sanitize',
            programs: 5,
            deaths: ['after its work' as const],
            run: async (given: Context) => applySanitize(given, await planSanitize(given, { target: 'app', cpus: 1 })),
          },
        ]
      : []),
  ];
  const cases = operations.flatMap(({ name, programs, victims, deaths, run }) => {
    const all = Array.from({ length: programs }, (_, victim) => victim);
    return deaths.flatMap((death) => ((!FULL && victims) || all).map((victim) => ({ name, victim, death, run })));
  });

  it.each(cases)('fails $name when program $victim is killed $death', async ({ run, victim, death }) => {
    const given = context();
    const runner = killingRunner(given.runner, victim, death);
    const outcome = await run({ ...given, runner }).then(
      () => 'succeeded',
      (error: Error) => error,
    );
    expect(runner.started[victim]).toBeDefined();
    expect(outcome, runner.started.join('\n')).toBeInstanceOf(Error);
    expect(await server.dump('copy')).toBe(before);
    expect((await listSnapshots(given, 'app')).snapshots).toHaveLength(1);
    expect(await server.databases()).toEqual(['copy', 'postgres', 'source']);
  });

  it('an unanswered COMMIT fails a load in place', async () => {
    const given = context();
    const runner = killingRunner(given.runner, 3, 'after its work');
    const loading = loadWith(() => ({ inPlace: true }))({ ...given, runner });
    await expect(loading).rejects.toMatchObject({ code: 'restore_failed' });
  });

  it.each(operations)('$name starts exactly the programs that are killed here', async ({ run, programs }) => {
    const given = context();
    const runner = killingRunner(given.runner, -1, 'at its start');
    await run({ ...given, runner });
    expect(runner.started).toHaveLength(programs);
  });
});
