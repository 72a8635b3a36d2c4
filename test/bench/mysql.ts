/**
 * Measures `tool build` and `tool load` beside mydumper and myloader, and beside `mysqldump | gzip` and `gunzip | mysql`,
 * on one server, with two workers each: `npm run bench -- mysql [megabytes]`. Every round runs them in turns; medians
 * of five. Figures are ratios: machines differ. Then what a further build stores after a change, and resets beside
 * the load that they repeat; `npm run bench -- mysql [megabytes] change` does only that, and `ratios` none
 * of it.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepFigure } from '../helpers/keep-figure.ts';
import { mysqlBenchData } from '../helpers/mysql/mysql-bench-data.ts';
import { startMysql } from '../helpers/mysql/mysql-server.ts';

const ROUNDS = 5;
const JOBS = 2;
/** Sessions that load alternate rows wait for each other's pages. */
const ROWS_TOGETHER = 100_000;
const megabytes = Number(process.argv[2] ?? 500);
const tool = new URL('../../dist/tool.js', import.meta.url).pathname;
const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));
const server = await startMysql('mariadb', ['--innodb-buffer-pool-size=1G', '--innodb-log-file-size=512M']);
const login = `--host=127.0.0.1 --port=${server.port} --user=root`;

const CHANGES = [
  { what: 'nothing', goal: '0 bytes', sql: ['DO 1'] },
  {
    what: '1 % appended to the large table',
    goal: '2 % of the large table',
    sql: [
      'INSERT INTO event (account_id, kind, happened, amount, path, agent, trace) SELECT account_id, kind, happened, amount, path, agent, MD5(id) FROM event WHERE id % 100 = 1',
    ],
  },
  {
    what: '1 % of its rows updated at random',
    goal: 'in proportion to the parts touched',
    sql: ['UPDATE event SET amount = amount + 1 WHERE CRC32(id) % 100 = 7'],
  },
  {
    what: '1 % of its rows updated in one place',
    goal: '2 % of the large table',
    sql: [
      'UPDATE event SET amount = amount + 1 WHERE id BETWEEN 1000 AND 1000 + (SELECT 0.01 * n FROM (SELECT MAX(id) AS n FROM event) AS last)',
    ],
  },
];

try {
  console.log(`Filling a database with ${megabytes} MB`);
  await server.createDatabase('bench');
  await server.sql('bench', ...mysqlBenchData({ megabytes }));
  if (process.argv[3] !== 'change') await measure();
  if (process.argv[3] !== 'ratios') {
    await measureChanges();
    await measureResets();
  }
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const times: Record<'mydumper' | 'myloader' | 'mysqldump' | 'mysql' | 'build' | 'load' | 'byHand', number[]> = {
    mydumper: [],
    myloader: [],
    mysqldump: [],
    mysql: [],
    build: [],
    load: [],
    byHand: [],
  };
  const loadByHand = await prepareLoadByHand();
  const dumped = join(folder, 'mydumper');
  const zipped = join(folder, 'dump.sql.gz');
  let stored = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await rm(dumped, { recursive: true, force: true });
    times.mydumper.push(await run(`mydumper -t ${JOBS} --compress ${login} -B bench -o ${dumped}`));
    times.mysqldump.push(
      await run(`mariadb-dump --no-defaults ${login} --single-transaction bench | gzip > ${zipped}`),
    );
    const work = join(folder, `work-${round}`);
    const command = `${process.execPath} ${tool} --config ${await configure(work)} --json --yes`;
    times.build.push(await run(`${command} build bench`));
    stored = await size(join(work, 'objects'));
    times.load.push(await run(`${command} load bench --no-undo`));
    await server.sql('', 'DROP DATABASE IF EXISTS raw');
    times.myloader.push(await run(`myloader -t ${JOBS} ${login} -B raw -d ${dumped}`));
    await server.sql('', 'DROP DATABASE raw', 'CREATE DATABASE raw');
    times.mysql.push(await run(`gunzip < ${zipped} | mariadb --no-defaults ${login} raw`));
    times.byHand.push(await loadByHand());
    await rm(work, { recursive: true });
  }
  table([
    ['', 'seconds', 'of mydumper', 'of mysqldump | gzip', 'MB stored'],
    [`mydumper -t ${JOBS} --compress`, seconds(times.mydumper), '1', '', mb(await size(dumped))],
    ['mysqldump | gzip', seconds(times.mysqldump), '', '1', mb((await stat(zipped)).size)],
    [
      'tool build',
      seconds(times.build),
      ratio(times.build, times.mydumper),
      ratio(times.build, times.mysqldump),
      mb(stored),
    ],
    ['to reach', '', '1.00', '0.50', ''],
  ]);
  table([
    ['', 'seconds', 'of myloader', 'of gunzip | mysql', 'of LOAD DATA'],
    [`myloader -t ${JOBS}`, seconds(times.myloader), '1', '', ''],
    ['gunzip | mysql', seconds(times.mysql), '', '1', ''],
    [`LOAD DATA by ${JOBS} sessions`, seconds(times.byHand), '', '', '1'],
    [
      'tool load',
      seconds(times.load),
      ratio(times.load, times.myloader),
      ratio(times.load, times.mysql),
      ratio(times.load, times.byHand),
    ],
    ['to reach', '', '0.50', '0.50', '1.15'],
  ]);
  keepFigure('build to mydumper', median(times.build) / median(times.mydumper));
  keepFigure('load to myloader', median(times.load) / median(times.myloader));
  keepFigure('load to LOAD DATA', median(times.load) / median(times.byHand));
}

/** Loads files of rows into the tables of a new database with their indexes: the large table and the others in equal shares. */
async function prepareLoadByHand(): Promise<() => Promise<number>> {
  const client = `mariadb --no-defaults ${login} --local-infile=1`;
  const files = join(folder, 'by-hand');
  await mkdir(files);
  const schema = join(files, 'schema.sql');
  await run(`mariadb-dump --no-defaults ${login} --no-data bench > ${schema}`);
  const tables = await server.sql<{ name: string }>(
    'bench',
    `SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'bench' ORDER BY (TABLE_NAME = 'event'), TABLE_NAME`,
  );
  const shares: string[][] = Array.from({ length: JOBS }, () => []);
  for (const [at, { name }] of tables.entries()) {
    for (const [share, statements] of shares.entries()) {
      if (name !== 'event' && at % JOBS !== share) continue;
      const file = join(files, `${name}.${share}`);
      const where = name === 'event' ? `WHERE id % ${2 * ROWS_TOGETHER} DIV ${ROWS_TOGETHER} = ${share}` : '';
      await run(`mariadb --no-defaults ${login} -BNe 'SELECT * FROM ${name} ${where}' bench > ${file}`);
      const load = `LOAD DATA LOCAL INFILE '${file}' INTO TABLE ${name}`;
      // The second session loads its share of the large table last: MariaDB locks an empty table for the first rows, and
      // two sessions that begin together deadlock.
      if (name === 'event' && share === 0) statements.unshift(load);
      else statements.push(load);
    }
  }
  const sessions = shares.map(
    (statements) =>
      `${client} -e "SET unique_checks = 0, foreign_key_checks = 0; ${statements.join('; ')}" by_hand || exit 1`,
  );
  return async () => {
    await server.sql('', 'DROP DATABASE IF EXISTS by_hand', 'CREATE DATABASE by_hand');
    const loading = sessions.map((session) => `(${session}) & pids="$pids $!"`).join('\n');
    return await run(
      `${client} by_hand < ${schema} || exit 1\n${loading}\nfor pid in $pids; do wait $pid || exit 1; done`,
    );
  };
}

/** What a build stores besides what the one before it has stored. */
async function measureChanges(): Promise<void> {
  const work = join(folder, 'work-changes');
  const command = `${process.execPath} ${tool} --config ${await configure(work)} --json --yes`;
  await run(`${command} build bench`);
  const rows = [['changed', 'bytes added', '% of the first build', 'seconds', 'to reach']];
  const first = await size(join(work, 'objects'));
  for (const { what, goal, sql } of CHANGES) {
    await server.sql('bench', ...sql);
    const before = await size(join(work, 'objects'));
    const took = await run(`${command} build bench`);
    const added = (await size(join(work, 'objects'))) - before;
    rows.push([what, String(added), ((100 * added) / first).toFixed(2), took.toFixed(1), goal]);
  }
  table(rows);
}

async function measureResets(): Promise<void> {
  const work = join(folder, 'work-resets');
  const command = `${process.execPath} ${tool} --config ${await configure(work)} --json --yes`;
  await run(`${command} build bench`);
  const times: Record<'load' | 'keeping' | 'base' | 'spare', number[]> = { load: [], keeping: [], base: [], spare: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    times.load.push(await run(`${command} load bench --no-undo`));
    times.keeping.push(await run(`${command} load bench --no-undo --keep-base`));
    times.base.push(await run(`${command} reset bench --no-undo`));
    await run(`${command} reset bench --no-undo --spare`);
    times.spare.push(await run(`${command} reset bench --no-undo`));
  }
  const row = (name: string, key: keyof typeof times): string[] => [
    name,
    seconds(times[key]),
    ratio(times[key], times.load),
  ];
  table([
    ['', 'seconds, with the start of the program', 'of the load'],
    row('tool load', 'load'),
    row('tool load --keep-base', 'keeping'),
    row('tool reset, from the base copy', 'base'),
    row('tool reset, from the spare', 'spare'),
  ]);
}

async function configure(work: string): Promise<string> {
  await mkdir(work);
  const config = join(work, 'tool.yml');
  const text = `secret_key: ${'ab'.repeat(16)}
working_directory: ${work}
defaults: {cpus: ${JOBS}}
targets:
  bench:
    snapshot:
      src_url: ${server.url('bench')}
      dst_url: ${server.url('copy')}
`;
  await writeFile(config, text, { mode: 0o600 });
  return config;
}

/** Seconds that a line of a shell takes. */
function run(line: string): Promise<number> {
  const started = performance.now();
  const child = spawn('bash', ['-o', 'pipefail', '-c', line], { stdio: ['ignore', 'ignore', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      if (code === 0) resolve((performance.now() - started) / 1000);
      else reject(new Error(`${line} ended with ${code}`));
    });
  });
}

async function size(directory: string): Promise<number> {
  const names = await readdir(directory, { recursive: true });
  const facts = await Promise.all(names.map((name) => stat(join(directory, name))));
  return facts.reduce((sum, fact) => sum + (fact.isFile() ? fact.size : 0), 0);
}

function median(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

function seconds(times: number[]): string {
  return median(times).toFixed(1);
}

function ratio(ours: number[], theirs: number[]): string {
  return (median(ours) / median(theirs)).toFixed(2);
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

function table(rows: string[][]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  console.log();
}
