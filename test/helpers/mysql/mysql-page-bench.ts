import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAM } from '../program.ts';
import { type Measured, measuredRun } from '../terminal/measured-run.ts';
import { inTurns } from '../turns.ts';
import { mysqlBenchData } from './mysql-bench-data.ts';
import { startMysql } from './mysql-server.ts';

const ALTERNATIVES = ['mydumper', 'myloader', 'mariadb-dump', 'mariadb'];

/** Measures dumps and restores of MariaDB, ours and those of others in turns; null where a program is missing. */
export async function measureMysql({ megabytes, rounds }: { megabytes: number; rounds: number }) {
  if (ALTERNATIVES.some((name) => spawnSync(name, ['--version']).error)) return null;
  const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));
  const server = await startMysql('mariadb', ['--innodb-buffer-pool-size=1G', '--innodb-log-file-size=512M']);
  try {
    await server.createDatabase('bench');
    await server.sql('bench', ...mysqlBenchData({ megabytes }));
    const work = join(folder, 'work');
    const config = join(folder, 'tool.yml');
    const target = { snapshot: { src_url: server.url('bench'), dst_url: server.url('copy') } };
    const settings = { secret_key: 'ab'.repeat(16), working_directory: work, defaults: { cpus: 2 } };
    await writeFile(config, JSON.stringify({ ...settings, targets: { bench: target } }), { mode: 0o600 });
    const login = `--host=127.0.0.1 --port=${server.port} --user=root`;
    const shell = (line: string): Promise<Measured> => measuredRun('bash', ['-o', 'pipefail', '-c', line]);
    const tool = (...words: string[]): Promise<Measured> =>
      measuredRun(process.execPath, [PROGRAM, '--config', config, '--json', '--yes', ...words]);
    const [dumped, zipped] = [join(folder, 'mydumper'), join(folder, 'dump.sql.gz')];
    const [dump, restore] = ['dump, MariaDB', 'restore, MariaDB'];
    const empty = () => server.sql('', 'DROP DATABASE IF EXISTS raw', 'CREATE DATABASE raw');
    const contestants = [
      {
        ...{ task: dump, command: 'mydumper -t 2 --compress', isOwn: false },
        before: () => rm(dumped, { recursive: true, force: true }),
        run: () => shell(`mydumper -t 2 --compress ${login} -B bench -o ${dumped}`),
      },
      {
        ...{ task: dump, command: 'mariadb-dump, gzip', isOwn: false },
        run: () => shell(`mariadb-dump --no-defaults ${login} --single-transaction bench | gzip > ${zipped}`),
      },
      {
        ...{ task: dump, command: 'tool build', isOwn: true },
        before: async () => {
          await rm(work, { recursive: true, force: true });
          await mkdir(work);
        },
        run: () => tool('build', 'bench'),
      },
      {
        ...{ task: restore, command: 'myloader -t 2', isOwn: false },
        before: () => server.sql('', 'DROP DATABASE IF EXISTS raw'),
        run: () => shell(`myloader -t 2 ${login} -B raw -d ${dumped}`),
      },
      {
        ...{ task: restore, command: 'gunzip, mariadb', isOwn: false, before: empty },
        run: () => shell(`gunzip < ${zipped} | mariadb --no-defaults ${login} raw`),
      },
      { task: restore, command: 'tool load', isOwn: true, run: () => tool('load', 'bench', '--full', '--no-undo') },
    ];
    return await inTurns(contestants, rounds);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
