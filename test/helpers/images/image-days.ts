import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openPostgresBench } from '../postgres/postgres-bench.ts';
import { PROGRAM } from '../program.ts';
import { measuredRun } from '../terminal/measured-run.ts';
import { addParts, emptyParts, mb, PART_SIZES, type Parts, piecesOf } from './cut.ts';
import { type ImageEngine, rowsFor, tablesOf } from './image-engine.ts';
import {
  DEFINITION,
  generated,
  type ImagePrograms,
  indexesOf,
  initialise,
  LOAD_SETTINGS,
  resetLog,
  startImage,
} from './image-postgres.ts';
import { makeOwned } from './make-owned.ts';

/** What has changed at the source on the next day. */
export const CHANGES: Record<string, (table: number, rows: number) => string> = {
  nothing: () => 'SELECT 1',
  'the newest 1 %': (table, rows) => `UPDATE t_${table} SET amount = amount + 1 WHERE id > ${rows * 0.99}`,
  'every 100th row': (table) => `UPDATE t_${table} SET amount = amount + 1 WHERE id % 100 = 7`,
  'every 100th row, longer': (table) => `UPDATE t_${table} SET note = note || 'longer' WHERE id % 100 = 7`,
  '1 % new rows': (table, rows) =>
    `INSERT INTO t_${table} ${generated(table, { from: rows + 1, to: Math.round(rows * 1.01) })}`,
};

/** The statement whose rows a load of the day gets, and whether the load is of one session in one transaction. */
const WAYS: Record<string, { select(table: number): string; once: boolean; load?: true }> = {
  'tool load': { select: () => '', once: false, load: true },
  'several transactions, as stored': { select: (table) => `SELECT * FROM t_${table}`, once: false },
  'one transaction, as stored': { select: (table) => `SELECT * FROM t_${table}`, once: true },
  'one transaction, by key': { select: (table) => `SELECT * FROM t_${table} ORDER BY id`, once: true },
};

/** Bytes that the image of the next day adds to a store, for each way to make it, beside those of the snapshot. */
export async function measureDays(
  programs: ImagePrograms,
  folder: string,
  { megabytes, name: only }: { megabytes: number; name: string | undefined },
): Promise<string[][]> {
  const rows = rowsFor(megabytes);
  const table: string[][] = [
    [
      'changed at the source',
      'what',
      'MB',
      ...PART_SIZES.map((size) => `MB added, parts of ${size / 1024} kB`),
      'ratio to the snapshot',
    ],
  ];
  const template = join(folder, 'template');
  initialise(programs, template);
  const changes = Object.entries(CHANGES);
  const named = changes.filter(([changed]) => changed === only);
  for (const [changed, change] of named.length > 0 ? named : changes) {
    await using source = await openPostgresBench(
      tablesOf((at) => [
        `CREATE TABLE t_${at} ${DEFINITION}`,
        `INSERT INTO t_${at} ${generated(at, { from: 1, to: rows })}`,
        ...indexesOf(at),
      ]).flat(),
    );
    const objects = join(source.folder, 'work', 'objects');
    const build = () =>
      measuredRun(process.execPath, [PROGRAM, '--config', source.config, '--json', '--yes', 'build', 'bench']);
    // The other ways were worse at 100 MB.
    const names = Object.entries(WAYS).slice(megabytes > 500 ? -1 : 0);
    const ways = names.map(([name, way]) => ({ name, ...way, parts: emptyParts() }));
    const applied = emptyParts();
    await build();
    const first = sizeOf(objects);
    const [data, url] = [join(folder, 'image'), source.url('bench')];
    for (const { parts, select, once, load } of ways) {
      await make(programs, { template, data, url, select, once, config: load && source.config });
      addParts(parts, data);
      if (select(0).includes('ORDER')) {
        addParts(applied, data);
        rmSync(join(folder, 'yesterday'), { recursive: true, force: true });
        execFileSync('cp', ['-a', data, join(folder, 'yesterday')]);
      }
      rmSync(data, { recursive: true });
    }
    for (const statement of tablesOf((at) => change(at, rows))) await source.sql('bench', statement);
    await build();
    const added = sizeOf(objects) - first;
    table.push([changed, 'snapshot', mb(first), ...PART_SIZES.slice(1).map(() => ''), mb(added), '1']);
    for (const { name, parts, select, once, load } of ways) {
      await make(programs, { template, data, url, select, once, config: load && source.config });
      table.push(row([changed, name], { parts, data, added }));
      if (select(0).includes('ORDER')) {
        const patches = mb(patchBytes(join(folder, 'yesterday'), data));
        table.push([changed, 'the same, by zstd --patch-from', '', ...PART_SIZES.slice(1).map(() => ''), patches]);
      }
      rmSync(data, { recursive: true });
    }
    // Every table has the same change, so that the statement stands for the difference of two snapshots.
    const yesterday = join(folder, 'yesterday');
    const server = await startImage(programs, yesterday, LOAD_SETTINGS);
    for (const statement of tablesOf((at) => change(at, rows))) await server.query(statement);
    await finish(server.query);
    await server.stop();
    resetLog(programs, yesterday);
    table.push(row([changed, "the difference, into yesterday's image"], { parts: applied, data: yesterday, added }));
  }
  return table;
}

function row(names: string[], { parts, data, added }: { parts: Parts; data: string; added: number }): string[] {
  const { stored, bytes } = addParts(parts, data);
  const whole = stored.get(PART_SIZES.at(-1) ?? 0) ?? 0;
  return [
    ...names,
    mb(bytes),
    ...PART_SIZES.map((size) => mb(stored.get(size) ?? 0)),
    added === 0 ? '' : (whole / added).toFixed(2),
  ];
}

/** Bytes of the differences of the larger files, each to the file of the same name. */
function patchBytes(from: string, to: string): number {
  const names = new Set([...piecesOf(to)].filter(({ bytes }) => bytes.length > 65_536).map(({ file }) => file));
  return [...names].reduce((sum, name) => {
    const [old, now] = [join(from, name), join(to, name)];
    const words = ['-3', '--long=30', '-q', '-c', ...(existsSync(old) ? [`--patch-from=${old}`] : []), now];
    return sum + execFileSync('zstd', words, { maxBuffer: 2 ** 31 - 1 }).length;
  }, 0);
}

interface ImageMake {
  template: string;
  data: string;
  url: string;
  select(table: number): string;
  once: boolean;
  /** Loads by `tool load` instead. */
  config: string | undefined;
}

async function make(programs: ImagePrograms, making: ImageMake): Promise<void> {
  const { template, data, url, select, once, config } = making;
  execFileSync('cp', ['-a', template, data]);
  const server = await startImage(programs, data, LOAD_SETTINGS);
  if (config !== undefined) {
    const loaded = server.url.replace(/postgres$/, 'loaded');
    const words = [PROGRAM, '--config', config, '--json', '--yes', 'load', 'bench', '--destdb', loaded, '--no-undo'];
    await measuredRun(process.execPath, words);
    execFileSync('psql', ['-Xqd', loaded, '-c', 'VACUUM FREEZE', '-c', 'ANALYZE']);
    await server.stop();
    resetLog(programs, data);
    return;
  }
  const script = [
    ...(once ? ['echo "BEGIN;"'] : []),
    ...tablesOf((at) => `echo "CREATE TABLE t_${at} ${DEFINITION};"`),
    ...tablesOf((at) =>
      [
        `echo "COPY t_${at} FROM STDIN${once ? ' WITH (FREEZE)' : ''};"`,
        `psql -Xqd '${url}' -c 'COPY (${select(at)}) TO STDOUT'`,
        `echo '\\.'`,
      ].join('; '),
    ),
    ...tablesOf((at) => indexesOf(at).map((statement) => `echo "${statement};"`)).flat(),
    ...(once ? ['echo "COMMIT;"'] : []),
  ].join('; ');
  execFileSync('sh', ['-c', `{ ${script}; } | psql -Xqd '${server.url}' -v ON_ERROR_STOP=1`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await finish(server.query);
  await server.stop();
  resetLog(programs, data);
}

async function finish(query: (statement: string) => Promise<unknown>): Promise<void> {
  await query('VACUUM FREEZE');
  await query('ANALYZE');
}

function sizeOf(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/** Bytes that a second image of the same rows adds. */
export async function measureEqual(engine: ImageEngine, folder: string, megabytes: number): Promise<string[][]> {
  const parts = emptyParts();
  const rows: string[][] = [];
  for (const name of [`${engine.name}, first`, `${engine.name}, the same again`]) {
    const data = join(folder, 'equal', 'data');
    makeOwned(engine.user, join(folder, 'equal'));
    await engine.make(data, megabytes);
    rows.push(row([name, ''], { parts, data, added: 0 }));
    rmSync(join(folder, 'equal'), { recursive: true });
  }
  return rows;
}
