/**
 * `npm run bench -- transports [MEGABYTES] [MILLISECONDS]`: builds of 60 tables (default 443 MB) beside `pg_dump -Fd -j2 -Z1`
 * in turns: over a plain connection, over TLS, and over TLS with a round trip of so many milliseconds (default 20).
 */
import { rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { benchData } from '../helpers/databases/bench-data.ts';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { makeAuthority, sign, speakTls } from '../helpers/postgres/postgres-tls.ts';
import { PROGRAM } from '../helpers/program.ts';
import { type Measured, measuredRun, printTable } from '../helpers/terminal/measured-run.ts';

const megabytes = Number(process.argv[2] ?? 443);
const milliseconds = Number(process.argv[3] ?? 20);
const ROUNDS = 5;
const JOBS = 2;
/** Bytes under way: 20 ms at some 3 Gbit/s. */
const WINDOW = 8 * 1024 * 1024;

await using bench = await openPostgresBench(benchData({ megabytes, tables: 60, even: true }));
const { folder, tools } = bench;
const authority = await makeAuthority(join(folder, 'tls'));
await speakTls(
  {
    psql: async (database, input) =>
      'sql' in input ? ((await bench.sql(database, input.sql)).output.split('\n')[2] ?? '') : '',
  },
  await sign(authority, { name: 'server', subject: '/CN=localhost' }),
);
const plain = bench.url('bench');
const { port } = new URL(plain);
const proxy = createServer((near) => {
  const far = connect(Number(port), '127.0.0.1');
  pass(near, far);
  pass(far, near);
});
await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
const slow = (proxy.address() as AddressInfo).port;
const urls: Record<string, string> = {
  plain: `${plain}?sslmode=disable`,
  TLS: `${plain}?sslmode=require`,
  [`TLS, ${milliseconds} ms`]: `${plain.replace(`:${port}/`, `:${slow}/`)}?sslmode=require`,
};
const rows: string[][] = [];
try {
  for (const [transport, url] of Object.entries(urls)) {
    const config = join(folder, 'transport.yml');
    const work = join(folder, 'transport');
    const text = `secret_key: ${'ab'.repeat(16)}
working_directory: ${work}
defaults: { cpus: ${JOBS} }
targets: { bench: { snapshot: { src_url: "${url}" } } }
`;
    await writeFile(config, text, { mode: 0o600 });
    const dumps: Costs[] = [];
    const builds: Costs[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const archive = join(folder, 'archive');
      for (const path of [archive, work]) await rm(path, { recursive: true, force: true });
      dumps.push(await measured(tools.pg_dump, ['-Fd', `-j${JOBS}`, '-Z1', '-f', archive, '-d', url]));
      builds.push(await measured(process.execPath, [PROGRAM, '--config', config, '--json', '--yes', 'build', 'bench']));
    }
    const ratio = (median(builds, ({ seconds }) => seconds) / median(dumps, ({ seconds }) => seconds)).toFixed(2);
    for (const [what, runs, to] of [
      ['pg_dump', dumps, '1'],
      ['tool build', builds, ratio],
    ] as const) {
      const figures = (['seconds', 'cpu', 'server'] as const).map((name) =>
        median(runs, (one) => one[name]).toFixed(2),
      );
      rows.push([`${what}, ${transport}`, ...figures, to]);
    }
  }
} finally {
  proxy.close();
}
printTable([[`${megabytes} MB`, 'seconds', 'CPU s', 'CPU s of server', 'ratio'], ...rows]);

/** Delays each chunk by half of a round trip; none waits for the one before it. */
function pass(from: Socket, to: Socket): void {
  let waiting = 0;
  from.setNoDelay(true);
  from.on('error', () => to.destroy());
  from.on('data', (chunk) => {
    waiting += chunk.length;
    if (waiting > WINDOW) from.pause();
    setTimeout(() => {
      to.write(chunk, () => {
        waiting -= chunk.length;
        if (waiting <= WINDOW) from.resume();
      });
    }, milliseconds / 2);
  });
  from.on('end', () => setTimeout(() => to.end(), milliseconds / 2));
}

interface Costs extends Measured {
  server: number;
}

async function measured(file: string, args: string[]): Promise<Costs> {
  const before = await bench.cpu();
  const run = await measuredRun(file, args);
  return { ...run, server: (await bench.cpu()) - before };
}

function median(runs: Costs[], value: (run: Costs) => number): number {
  return runs.map(value).sort((a, b) => a - b)[Math.floor(runs.length / 2)] ?? Number.NaN;
}
