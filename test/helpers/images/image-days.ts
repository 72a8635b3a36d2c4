import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openPostgresBench } from '../postgres/postgres-bench.ts';
import { PROGRAM } from '../program.ts';
import { measuredRun } from '../terminal/measured-run.ts';
import { addParts, emptyParts, PART_SIZES, type Parts } from './cut.ts';
import { type ImagePrograms, initialise, LOAD_SETTINGS, resetLog, startImage } from './image-postgres.ts';

export const TABLES = 4;
const ROW_BYTES = 190;

export const rowsFor = (megabytes: number): number => Math.round((megabytes * 1e6) / TABLES / ROW_BYTES);

export const tablesOf = <One>(of: (table: number) => One): One[] => Array.from({ length: TABLES }, (_, table) => of(table));

export const DEFINITION = '(id bigint, customer integer, amount numeric(10, 2), changed timestamptz, note text)';

export const generated = (table: number, from: number, to: number): string =>
  `SELECT i, abs(hashint4(i + ${table})) % 100000, (i % 100000) / 100.0, '2024-01-01Z'::timestamptz + i * interval '1 s',
     md5(i::text) || md5((i + ${table})::text) FROM generate_series(${from}, ${to}) i`;

export const indexesOf = (table: number): string[] => [
  `ALTER TABLE t_${table} ADD PRIMARY KEY (id)`,
  `CREATE INDEX ON t_${table} (customer)`,
  `CREATE INDEX ON t_${table} (changed)`,
];

/** What has changed at the source on the next day. */
export const CHANGES: Record<string, (table: number, rows: number) => string> = {
  nothing: () => 'SELECT 1',
  'the newest 1 %': (table, rows) => `UPDATE t_${table} SET amount = amount + 1 WHERE id > ${rows * 0.99}`,
  'every 100th row': (table) => `UPDATE t_${table} SET amount = amount + 1 WHERE id % 100 = 7`,
  '1 % new rows': (table, rows) => `INSERT INTO t_${table} ${generated(table, rows + 1, Math.round(rows * 1.01))}`,
};

/** The statement whose rows a load of the day gets, and whether the load is of one session in one transaction. */
const WAYS: Record<string, { select(table: number): string; once: boolean }> = {
  'several transactions, as stored': { select: (table) => `SELECT * FROM t_${table}`, once: false },
  'one transaction, as stored': { select: (table) => `SELECT * FROM t_${table}`, once: true },
  'one transaction, by key': { select: (table) => `SELECT * FROM t_${table} ORDER BY id`, once: true },
};

/** Bytes that the image of the next day adds to a store, for each way to make it, beside those of the snapshot. */
export async function measureDays(programs: ImagePrograms, folder: string, megabytes: number): Promise<string[][]> {
  const rows = rowsFor(megabytes);
  const table: string[][] = [
    ['changed at the source', 'what', 'MB', ...PART_SIZES.map((size) => `MB added, parts of ${size / 1024} kB`), 'ratio to the snapshot'],
  ];
  const template = join(folder, 'template');
  initialise(programs, template);
  for (const [changed, change] of Object.entries(CHANGES)) {
    await using source = await openPostgresBench(
      tablesOf((at) => [`CREATE TABLE t_${at} ${DEFINITION}`, `INSERT INTO t_${at} ${generated(at, 1, rows)}`, ...indexesOf(at)]).flat(),
    );
    const objects = join(source.folder, 'work', 'objects');
    const build = () => measuredRun(process.execPath, [PROGRAM, '--config', source.config, '--json', '--yes', 'build', 'bench']);
    const ways = Object.entries(WAYS).map(([name, way]) => ({ name, ...way, parts: emptyParts() }));
    const applied = emptyParts();
    await build();
    const first = sizeOf(objects);
    for (const { parts, select, once } of ways) {
      const data = join(folder, 'image');
      await make(programs, { template, data, url: source.url('bench'), select, once });
      addParts(parts, data);
      if (select(0).includes('ORDER')) {
        addParts(applied, data);
        rmSync(join(folder, 'yesterday'), { recursive: true, force: true });
        execFileSync('cp', ['-a', data, join(folder, 'yesterday')]);
      }
      rmSync(data, { recursive: true });
    }
    for (let at = 0; at < TABLES; at += 1) await source.sql('bench', change(at, rows));
    await build();
    const added = sizeOf(objects) - first;
    table.push([changed, 'snapshot', mb(first), ...PART_SIZES.map((size, at) => (at === PART_SIZES.length - 1 ? mb(added) : '')), '1']);
    for (const { name, parts, select, once } of ways) {
      const data = join(folder, 'image');
      await make(programs, { template, data, url: source.url('bench'), select, once });
      table.push(row([changed, name], { parts, data, added }));
      rmSync(data, { recursive: true });
    }
    // Every table has the same change, so that the statement stands for the difference of two snapshots.
    const yesterday = join(folder, 'yesterday');
    const server = await startImage(programs, yesterday, LOAD_SETTINGS);
    for (let at = 0; at < TABLES; at += 1) await server.query(change(at, rows));
    await finish(server.query);
    await server.stop();
    resetLog(programs, yesterday);
    table.push(row([changed, "the difference, into yesterday's image"], { parts: applied, data: yesterday, added }));
  }
  return table;
}

function row(names: string[], { parts, data, added }: { parts: Parts; data: string; added: number }): string[] {
  const { stored, bytes, files } = addParts(parts, data);
  const most = [...files].sort(([, a], [, b]) => (b.get(8192) ?? 0) - (a.get(8192) ?? 0)).slice(0, 3);
  if (process.env.VERBOSE) console.log(names.join(': '), most.map(([file, of]) => `${file} ${of.get(8192)}`).join(', '));
  const whole = stored.get(PART_SIZES.at(-1) ?? 0) ?? 0;
  return [...names, mb(bytes), ...PART_SIZES.map((size) => mb(stored.get(size) ?? 0)), added === 0 ? '' : (whole / added).toFixed(2)];
}

interface Making {
  template: string;
  data: string;
  url: string;
  select(table: number): string;
  once: boolean;
}

async function make(programs: ImagePrograms, { template, data, url, select, once }: Making): Promise<void> {
  execFileSync('cp', ['-a', template, data]);
  const server = await startImage(programs, data, LOAD_SETTINGS);
  const script = [
    ...(once ? ['echo "BEGIN;"'] : []),
    ...tablesOf((at) => `echo "CREATE TABLE t_${at} ${DEFINITION};"`),
    ...tablesOf((at) =>
      [`echo "COPY t_${at} FROM STDIN${once ? ' WITH (FREEZE)' : ''};"`, `psql -Xqd '${url}' -c 'COPY (${select(at)}) TO STDOUT'`, `echo '\\.'`].join('; '),
    ),
    ...tablesOf((at) => indexesOf(at).map((statement) => `echo "${statement};"`)).flat(),
    ...(once ? ['echo "COMMIT;"'] : []),
  ].join('; ');
  execFileSync('sh', ['-c', `{ ${script}; } | psql -Xqd '${server.url}' -v ON_ERROR_STOP=1`], { stdio: ['ignore', 'ignore', 'inherit'] });
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

export const mb = (bytes: number): string => (bytes / 1e6).toFixed(1);
