/**
 * `npm run bench -- page [--size MEGABYTES]… [--tables COUNT]… [--rounds COUNT] [--output FILE]`: writes
 * docs/benchmarks.md, and without --output the times of the README (default: 3, 443 and 1000 MB, 500 and 2000 tables,
 * three rounds; some 40 minutes).
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { benchmarksPage, type FigureRow, readmeWithTimes } from '../../.ci/bench/page.ts';
import { benchData, manyTables } from '../helpers/databases/bench-data.ts';
import { measureMysql } from '../helpers/mysql/mysql-page-bench.ts';
import { measurePostgres } from '../helpers/postgres/postgres-page-bench.ts';
import { printTable } from '../helpers/terminal/measured-run.ts';

const PAGE = 'docs/benchmarks.md';

const { values } = parseArgs({
  options: {
    size: { type: 'string', multiple: true },
    tables: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '3' },
    output: { type: 'string', default: PAGE },
  },
});
const isChosen = values.size !== undefined || values.tables !== undefined;
const sizes = (values.size ?? (isChosen ? [] : ['3', '443', '1000'])).map(Number);
const tables = (values.tables ?? (isChosen ? [] : ['500', '2000'])).map(Number);
const rounds = Number(values.rounds);

const rows: FigureRow[] = [];
const columns: string[] = [];

for (const megabytes of sizes) {
  const size = megabytes >= 1000 ? `${megabytes / 1000} GB` : `${megabytes} MB`;
  columns.push(size);
  const statements = benchData({ megabytes, tables: megabytes < 10 ? 18 : 30 });
  take(size, await measurePostgres({ statements, rounds }));
}
for (const count of tables) {
  const size = `${count} tables`;
  columns.push(size);
  take(size, await measurePostgres({ statements: manyTables({ tables: count, rows: 40 }), rounds }));
}
for (const [at, megabytes] of sizes.entries()) {
  const measured = await measureMysql({ megabytes, rounds });
  if (measured) take(columns[at] ?? '', measured);
}

const [first, ...others] = cpus();
const figures = {
  machine: `${others.length + 1} × ${first?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`,
  versions: versions(),
  at: new Date().toISOString().slice(0, 10),
  commit: output('git', ['describe', '--always', '--dirty']),
  rounds,
  sizes: columns,
  rows,
};
writeFileSync(values.output, benchmarksPage(figures));
if (values.output === PAGE) writeFileSync('README.md', readmeWithTimes(readFileSync('README.md', 'utf8'), figures));
console.log(`Wrote ${values.output}`);

/** Prints what is measured, since the whole takes long. */
function take(size: string, measured: Measurement[]): void {
  for (const { seconds, ...row } of measured) {
    const known = rows.find((one) => one.task === row.task && one.command === row.command);
    if (known) known.seconds[size] = seconds;
    else rows.push({ ...row, seconds: { [size]: seconds } });
  }
  printTable(
    measured.map(({ task, command, seconds }) => [size, task, command, ...seconds.map((one) => one.toFixed(2))]),
  );
}

type Measurement = Omit<FigureRow, 'seconds'> & { seconds: number[] };

function versions(): string[] {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const programs = ['pg_dump', 'mariadbd', 'mydumper', 'zstd'].map((name) => versionOf(name));
  return [`tool ${version}`, `Node ${process.versions.node}`, ...programs.filter((one) => one !== '')];
}

function versionOf(name: string): string {
  const found = /\d+\.\d+(\.\d+)?/.exec(output(name, ['--version']))?.[0];
  return found ? `${name} ${found}` : '';
}

function output(file: string, words: string[]): string {
  try {
    return execFileSync(file, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}
