import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { aptFetch, testCache } from '../databases/debian-packages.ts';
import type { TestPostgres } from './postgres-server.ts';

const run = promisify(execFile);

/** What the regression tests of PostgreSQL need: SQL, data, the order of the tests, and `regress.so`. */
const PARTS = ['sql', 'data', 'parallel_schedule', 'regress.so'];

/** Files of the regression tests, from Debian's source package; kept in the cache of the tests. */
async function regressionFiles(major: number): Promise<string> {
  const folder = join(testCache(), `postgres-regression-${major}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  try {
    await mkdir(unfinished, { recursive: true });
    await aptFetch(unfinished, { source: `postgresql-${major}` });
    const archive = (await readdir(unfinished)).find((name) => /\.orig\.tar\.\w+$/.test(name));
    if (!archive) throw new Error(`apt-get source postgresql-${major} gave no source archive`);
    const build = join(unfinished, 'build');
    await mkdir(build);
    await run('tar', ['-xf', join(unfinished, archive), '--strip-components=1', '-C', build]);
    // The module loads into any server of the same major version.
    await run('./configure', ['--without-readline', '--without-zlib', '--without-icu'], { cwd: build, maxBuffer: 1e8 });
    await run('make', ['-s', '-C', 'src/test/regress', 'regress.so'], { cwd: build, maxBuffer: 1e8 });
    const made = join(unfinished, 'made');
    await mkdir(made);
    for (const part of PARTS) await cp(join(build, 'src/test/regress', part), join(made, part), { recursive: true });
    await rename(made, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return folder;
}

/** Whether the programs that build `regress.so` are here. */
export const canBuildRegression = ['/usr/bin/apt-get', '/usr/bin/gcc', '/usr/bin/make', '/usr/bin/perl'].every(
  existsSync,
);

export const REGRESSION = 'regression';

/** What pg_regress sets for the sessions of the tests. */
const ENVIRONMENT = {
  PGTZ: 'PST8PDT',
  PGDATESTYLE: 'Postgres, MDY',
  PGOPTIONS: '-c intervalstyle=postgres_verbose',
};

const SETTINGS = ["lc_messages TO 'C'", "bytea_output TO 'hex'", "timezone_abbreviations TO 'Default'"];

/**
 * Runs the regression tests of PostgreSQL on the server, as pg_regress does but without a look at the results: what
 * remains in the database is the corpus. `folder` is readable by the user of the server.
 */
export async function makeRegressionDatabase(server: TestPostgres, folder: string): Promise<void> {
  const version = await server.psql('postgres', { sql: `SELECT current_setting('server_version_num')::int / 10000` });
  const files = await regressionFiles(Number(version));
  await cp(files, folder, { recursive: true });
  await mkdir(join(folder, 'results'));
  await chmod(join(folder, 'results'), 0o777);
  await chmod(folder, 0o755);
  await server.createDatabase(REGRESSION);
  await server.psql('postgres', {
    sql: SETTINGS.map((setting) => `ALTER DATABASE ${REGRESSION} SET ${setting};`).join(' '),
  });
  await writeFile(join(folder, 'empty'), '');
  const env = {
    ...process.env,
    ...ENVIRONMENT,
    PG_ABS_SRCDIR: folder,
    PG_ABS_BUILDDIR: folder,
    PG_LIBDIR: folder,
    PG_DLSUFFIX: '.so',
  };
  const psql = (test: string): Promise<unknown> =>
    // A test may end with an error, on purpose or for what another machine has.
    run('psql', ['-X', '-a', '-q', '-d', server.url(REGRESSION), '-f', join(folder, 'sql', `${test}.sql`)], {
      env,
      cwd: folder,
      maxBuffer: 1e9,
    }).catch(() => {});
  for (const group of scheduleOf(await readFile(join(folder, 'parallel_schedule'), 'utf8'))) {
    await Promise.all(group.map(psql));
  }
}

/** `test: a b c`: tests that run at the same moment. */
function scheduleOf(schedule: string): string[][] {
  return [...schedule.matchAll(/^test: (.*)$/gm)].map((match) => (match[1] ?? '').trim().split(/\s+/));
}
