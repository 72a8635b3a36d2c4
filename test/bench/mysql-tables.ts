/**
 * Measures `tool build` and `tool load` of many small tables with foreign keys beside mydumper and myloader, on one
 * server, with two workers each: `npm run bench -- mysql-tables [tables] [mariadb|mysql]`. Figures are ratios: machines
 * differ.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openSession } from '../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../src/engines/mysql/connection/url.ts';
import { startMysql, type TestFlavour } from '../helpers/mysql/mysql-server.ts';

const JOBS = 2;
/** Of the reader between two reads. */
const PAUSE_MS = 5;
const tables = Number(process.argv[2] ?? 2000);
const tool = new URL('../../dist/tool.js', import.meta.url).pathname;
const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));
const server = await startMysql((process.argv[3] ?? 'mariadb') as TestFlavour);
const login = `--host=127.0.0.1 --port=${server.port} --user=root`;

try {
  await server.createDatabase('bench');
  await server.sql(
    'bench',
    'SET foreign_key_checks = 0',
    ...Array.from({ length: tables }, (_, at) => statements(at)).flat(),
  );
  await measure();
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Half of the tables reference the other half, and themselves in turn. */
function statements(at: number): string[] {
  return [
    `CREATE TABLE t${at} (id INT PRIMARY KEY, name VARCHAR(50) NOT NULL, parent_id INT, note TEXT, KEY (name), KEY (parent_id),
      CONSTRAINT fk_${at} FOREIGN KEY (parent_id) REFERENCES t${Math.floor(at / 2)} (id))`,
    // Rows that no other table has: nothing is stored once for all.
    `INSERT INTO t${at} VALUES (1, 'a${at}', 1, 'x'), (2, 'b${at}', 1, 'y'), (3, 'c${at}', 2, 'z')`,
  ];
}

async function measure(): Promise<void> {
  const dumped = join(folder, 'mydumper');
  const work = join(folder, 'work');
  await mkdir(work);
  const config = join(work, 'tool.yml');
  const urls = `{src_url: "${server.url('bench')}", dst_url: "${server.url('copy')}"}`;
  const text = `secret_key: ${'ab'.repeat(16)}\nworking_directory: ${join(work, 'snapshots')}\ndefaults: {cpus: ${JOBS}}\ntargets:\n  bench:\n    snapshot: ${urls}\n`;
  await writeFile(config, text, { mode: 0o600 });
  const command = `TOOL_TRUST=true ${process.execPath} ${tool} --config ${config} --json --yes`;
  const mydumper = await run(`mydumper -t ${JOBS} --compress ${login} -B bench -o ${dumped}`);
  const build = await run(`${command} build bench`);
  const again = await run(`${command} build bench`);
  const myloader = await run(`myloader -t ${JOBS} ${login} -B raw -d ${dumped}`);
  await server.sql('', 'DROP DATABASE raw');
  const first = await run(`${command} load bench`);
  const watching = await watchReaders();
  const second = await run(`${command} load bench`);
  const longest = await watching.end();
  const row = (name: string, { seconds }: Run, [beside, wanted]: [Run, string] | [null, ''] = [null, '']): void =>
    console.log(
      name.padEnd(32),
      seconds.toFixed(1).padStart(8),
      (beside ? (seconds / beside.seconds).toFixed(2) : '').padStart(8),
      wanted,
    );
  console.log(`${tables} tables`.padEnd(32), 'seconds'.padStart(8), 'ratio'.padStart(8), 'to reach');
  row('mydumper', mydumper);
  row('tool build', build, [mydumper, '2.00']);
  row('tool build, nothing changed', again, [mydumper, '2.00']);
  row('myloader', myloader);
  row('tool load, new destination', first, [myloader, '1.00']);
  row('tool load over it', second, [myloader, '1.00']);
  console.log(`unavailable, as the load over it says:     ${second.swapMs.padStart(8)} ms, to reach 500`);
  console.log(`longest that a reader waited meanwhile:    ${longest.toFixed(0).padStart(8)} ms`);
}

/** A client that reads one row of the first and the last table again and again, as a program would that uses the database. */
async function watchReaders(): Promise<{ end(): Promise<number> }> {
  const session = await openSession({ url: parseMysqlUrl(server.url('copy')) });
  let longest = 0;
  let ended = false;
  const reading = (async () => {
    while (!ended) {
      const started = performance.now();
      await session.query(`SELECT (SELECT name FROM t0 WHERE id = 1), (SELECT name FROM t${tables - 1} WHERE id = 1)`);
      longest = Math.max(longest, performance.now() - started);
      await setTimeout(PAUSE_MS);
    }
  })();
  return {
    async end() {
      ended = true;
      await reading;
      await session.close();
      return longest;
    },
  };
}

interface Run {
  seconds: number;
  /** What a load says of its swap. */
  swapMs: string;
}

function run(line: string): Promise<Run> {
  const started = performance.now();
  const child = spawn('bash', ['-c', line], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-100_000);
  });
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      const swapMs = /"swap_ms":(\d+)/.exec(output)?.[1] ?? '';
      if (code === 0) resolve({ seconds: (performance.now() - started) / 1000, swapMs });
      else reject(new Error(`${line} ended with ${code}: ${output.slice(-2000)}`));
    });
  });
}
