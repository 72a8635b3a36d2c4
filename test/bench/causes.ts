/**
 * `npm run bench -- causes [MEGABYTES]`: seconds of processor time that each part of a build costs for the rows of one table
 * (default 400 MB), medians of five in turns, beside what is possible with less.
 */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import { RANGE_BLOCKS } from '../../src/engines/postgres/dump/ranges.ts';
import { compressFrame, FRAME_BYTES } from '../../src/repository/objects/object-format.ts';
import { writeWhole } from '../../src/repository/objects/pack-object.ts';
import { benchData } from '../helpers/databases/bench-data.ts';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { cpuSeconds, measuredRun, printTable } from '../helpers/terminal/measured-run.ts';

const megabytes = Number(process.argv[2] ?? 400);
const ROUNDS = 5;
const COPY = 'COPY event TO STDOUT';

const folder = await mkdtemp(join(tmpdir(), 'tool-bench-causes-'));
await using bench = await openPostgresBench(benchData({ megabytes: megabytes * 2, tables: 1 }).slice(0, 4));
const size = await bench.sql('bench', `SELECT pg_relation_size('event') / 8192`);
const blocks = Number(size.output.split('\n')[2]);
const starts = Array.from({ length: Math.ceil(blocks / RANGE_BLOCKS) }, (_, at) => at * RANGE_BLOCKS);
const columns = 'id, account_id, kind, happened, amount, path, agent, trace';
const within = (start: number, end: number): string =>
  `COPY (SELECT ${columns} FROM ONLY event WHERE ctid >= '(${start},0)'::tid AND ctid < '(${end},0)'::tid) TO STDOUT`;
const ranges = starts.map((start) => within(start, start + RANGE_BLOCKS));
const settings = 'SET enable_seqscan = off; SET max_parallel_workers_per_gather = 0; SET jit = off';
const read = async (...statements: string[]): Promise<void> => {
  const words = statements.flatMap((statement) => ['-c', statement]);
  await measuredRun(bench.tools.psql, ['-Xq', '-o', '/dev/null', '-d', bench.url('bench'), '-c', settings, ...words]);
};

/** As many rows as one frame has, again and again: compression of all frames costs about the same. */
const { output } = await measuredRun(bench.tools.psql, [
  '-Xq',
  '-d',
  bench.url('bench'),
  '-c',
  `COPY (SELECT * FROM event LIMIT 60000) TO STDOUT`,
]);
const text = Buffer.from(output);
const contents = Array.from({ length: Math.floor(text.length / FRAME_BYTES) }, (_, at) =>
  text.subarray(at * FRAME_BYTES, (at + 1) * FRAME_BYTES),
);
const each = (work: (frame: Buffer) => void): void => {
  for (let done = 0; done < megabytes; done += 1) work(contents[done % contents.length] ?? text);
};
const packed = contents.map((content) => compressFrame(content));
const level = (number: number) => () =>
  each((frame) => zstdCompressSync(frame, { params: { [constants.ZSTD_c_compressionLevel]: number } }));
const destination = Buffer.allocUnsafeSlow(FRAME_BYTES);
const written = (ends: boolean) => (): void => {
  for (let at = 0; at < starts.length; at += 1) {
    const file = openSync(join(folder, `${at}`), 'w');
    for (const frame of packed.slice(0, Math.ceil(megabytes / starts.length))) writeWhole(file, frame);
    if (ends) fsyncSync(file);
    closeSync(file);
  }
};

const CAUSES: Record<string, () => void | Promise<void>> = {
  'server and psql: COPY of the table': () => read(COPY),
  'server and psql: COPY of a query of the table': () => read(`COPY (SELECT ${columns} FROM ONLY event) TO STDOUT`),
  'server and psql: COPY by range, one after the other': () => read(...ranges),
  'server and psql: COPY by one range of all blocks': () => read(within(0, 2 ** 31)),
  'a copy of the bytes into a frame': () => each((frame) => void frame.copy(destination)),
  'SHA-256 of the rows': () => each((frame) => void createHash('sha256').update(frame).digest()),
  'compression as it is': () => each((frame) => void compressFrame(frame)),
  'zstd -1': level(1),
  'zstd -3': level(3),
  'SHA-256 of the compressed bytes': () => {
    for (let done = 0; done < megabytes; done += 1)
      createHash('sha256')
        .update(packed[done % packed.length] ?? text)
        .digest();
  },
  'writing the objects': written(false),
  'writing and syncing the objects': written(true),
  'one start of the program': async () => {
    await measuredRun(process.execPath, [new URL('../../dist/tool.js', import.meta.url).pathname, '--version']);
  },
};

const rows = Object.entries(CAUSES).map(([name, work]) => ({
  name,
  work,
  own: [] as number[],
  server: [] as number[],
  seconds: [] as number[],
}));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const { work, own, server, seconds } of rows) {
    const [cpu, cpuOfServer, started] = [await cpuSeconds(process.pid), await bench.cpu(), performance.now()];
    await work();
    seconds.push((performance.now() - started) / 1000);
    own.push((await cpuSeconds(process.pid)) - cpu);
    server.push((await bench.cpu()) - cpuOfServer);
  }
}
await rm(folder, { recursive: true });
const median = (values: number[]): string => (values.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0).toFixed(2);
printTable([
  [`${megabytes} MB in ${starts.length} ranges`, 'CPU s', 'CPU s of server', 'seconds'],
  ...rows.map(({ name, own, server, seconds }) => [name, median(own), median(server), median(seconds)]),
]);
