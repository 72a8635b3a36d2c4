import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { build } from '../../../src/operations/build/build.ts';
import { applyDown, planDown } from '../../../src/operations/servers/down/down.ts';
import { serverUrl } from '../../../src/operations/servers/up/text.ts';
import { applyUp, planUp } from '../../../src/operations/servers/up/up.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import { startPostgres, testContext } from '../postgres/postgres-server.ts';
import { PROGRAM } from '../program.ts';
import { measuredRun } from '../terminal/measured-run.ts';
import { rowsFor, tablesOf } from './image-engine.ts';
import { DEFINITION, generated, indexesOf } from './image-postgres.ts';

const ROUNDS = 3;

/** `tool up` of a snapshot, from a stored image to the first row, beside `cp -a` of the image; all in one folder. */
export async function measureUp(folder: string, megabytes: number): Promise<string[][]> {
  // Servers of root have their files in the temporary folder.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  const work = join(folder, 'work');
  mkdirSync(work, { mode: 0o700 });
  const source = await startPostgres();
  const settings = { working_directory: work, targets: { shop: { snapshot: { src_url: source.url('shop') } } } };
  const config = join(folder, 'tool.yml');
  writeFileSync(config, JSON.stringify({ secret_key: 'ab'.repeat(16), ...settings }), { mode: 0o600 });
  const run = (...words: string[]) => measuredRun(process.execPath, [PROGRAM, '--config', config, '--yes', ...words]);
  try {
    await source.createDatabase('shop');
    for (const sql of tablesOf((at) => [
      `CREATE TABLE t_${at} ${DEFINITION}`,
      `INSERT INTO t_${at} ${generated(at, { from: 1, to: rowsFor(megabytes) })}`,
      ...indexesOf(at),
    ]).flat())
      await source.psql('shop', { sql });
    await build(testContext({ settings }), { target: 'shop' });
    const made = await run('up', 'shop', '--detach');
    const again = await run('up', 'shop', '--detach');
    await run('down', '--all');
    const [image = ''] = readdirSync(join(work, 'images'));
    const data = join(work, 'images', image, 'data');
    const [copies, ups]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      copies.push(timeOf(() => execFileSync('cp', ['-a', '--reflink=auto', data, join(folder, 'copy')])));
      rmSync(join(folder, 'copy'), { recursive: true });
      ups.push(await firstRow(settings, rowsFor(megabytes)));
      const context = testContext({ settings });
      await applyDown(context, await planDown(context, {}));
    }
    const [cp, up] = [median(copies), median(ups)];
    return [
      [
        'up with a new image, s',
        'its memory, MB',
        'up again, s',
        'its memory, MB',
        'cp -a, s',
        'first row, s',
        'ratio',
      ],
      [
        ...[made, again].flatMap(({ seconds, megabytes: memory }) => [seconds.toFixed(1), memory.toFixed(0)]),
        ...[cp, up, up / cp].map((value) => value.toFixed(2)),
      ],
    ];
  } finally {
    await source.stop();
  }
}

async function firstRow(settings: Parameters<typeof testContext>[0]['settings'], rows: number): Promise<number> {
  const started = performance.now();
  const events: RunEvent[] = [];
  const context = testContext({ settings, events });
  await applyUp(context, await planUp(context, { target: 'shop', detach: true }));
  const [url] = events.flatMap((event) => (event.event === 'server' ? [serverUrl(event)] : []));
  const client = new Client(url);
  await client.connect();
  await client.query(`SELECT * FROM t_0 WHERE id = ${Math.round(rows / 2)}`);
  const seconds = (performance.now() - started) / 1000;
  await client.end();
  return seconds;
}

function timeOf(work: () => void): number {
  const started = performance.now();
  work();
  return (performance.now() - started) / 1000;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
