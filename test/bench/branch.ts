/**
 * `npm run bench -- branch [MEGABYTES] [BRANCHES]`: branches of one base copy (default: 20 of 500 MB) against the
 * server's own file copies, by as many sessions, in turns; then the list of 200 branches. Medians of three.
 * `npm run bench -- branch clones [MEGABYTES] [BRANCHES]`: by PostgreSQL 18 on XFS with reflinks, as root.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { benchData } from '../helpers/databases/bench-data.ts';
import { mountXfs, startInside } from '../helpers/postgres/debian-postgres.ts';
import { debianTree } from '../helpers/postgres/debian-tree.ts';
import { openPostgresBench, type PostgresBenchServer } from '../helpers/postgres/postgres-bench.ts';
import { PROGRAM } from '../helpers/program.ts';
import { type Measured, measuredRun, printTable } from '../helpers/terminal/measured-run.ts';

const ROUNDS = 3;
const LISTED = 200;
/** As `cpus` of the configuration of the bench. */
const SESSIONS = 2;

const clones = process.argv[2] === 'clones';
const [size, many] = process.argv.slice(clones ? 3 : 2);
const megabytes = Number(size ?? 500);
const count = Number(many ?? 20);
await (clones ? measureClones() : measure());

/** In a tree of Debian's unstable suite; the file system has no space for as many copies. */
async function measureClones(): Promise<void> {
  const debian = await debianTree('sid', ['postgresql-18', 'procps']);
  await using reflinks = await mountXfs(debian, { bytes: (1024 + 9 * megabytes) * 1024 ** 2 });
  await using inside = await startInside(debian, 18, { folder: join(reflinks.inside, 'data'), durable: true });
  await inside.psql('postgres', 'CREATE DATABASE bench');
  for (const statement of benchData({ megabytes })) await inside.psql('bench', statement);
  const folder = await mkdtemp(join(debian.root, 'tmp/tool-'));
  const at = folder.slice(debian.root.length);
  await mkdir(join(folder, 'work'));
  const bench = { snapshot: { src_url: inside.url('bench'), dst_url: inside.url('copy') } };
  const settings = { secret_key: 'ab'.repeat(16), working_directory: `${at}/work`, targets: { bench } };
  const text = { ...settings, defaults: { cpus: SESSIONS } };
  await writeFile(join(folder, 'tool.yml'), JSON.stringify(text), { mode: 0o600 });
  const tool = async (words: string): Promise<{ output: string; seconds: number }> => {
    const started = performance.now();
    const { exit, output } = await debian.shell(
      `node ${PROGRAM} --config ${at}/tool.yml --yes --json ${words} </dev/null`,
    );
    if (exit !== 0) throw new Error(output);
    return { output, seconds: (performance.now() - started) / 1000 };
  };
  try {
    await tool('build bench');
    await tool('load bench --keep-base --no-undo');
    await inside.psql('postgres', 'CHECKPOINT');
    const base = Number(await inside.psql('postgres', `SELECT pg_database_size('copy.tool-base')`));
    const made: number[] = [];
    const shares: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = await reflinks.usedBytes();
      const plan = JSON.parse(
        (await tool(`branch create bench w --count ${count} --dry-run`)).output.trim().split('\n').at(-1) ?? '',
      );
      if (round === 0) console.log(plan.steps?.[0] ?? plan.plan?.steps?.[0]);
      made.push((await tool(`branch create bench w --count ${count}`)).seconds / count);
      shares.push(((await reflinks.usedBytes()) - before) / (count * base));
      const names = Array.from({ length: count }, (_, index) => `w_${index + 1}`);
      await tool(`branch drop bench ${names.join(' ')}`);
    }
    const middle = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
    printTable([
      ['', 'measured', 'to reach'],
      [`seconds of each of ${count} clones of ${Math.round(base / 1e6)} MB`, middle(made).toFixed(3), '0.5'],
      ['space, of as many copies', `${(100 * middle(shares)).toFixed(1)} %`, '5 %'],
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(): Promise<void> {
  await using server = await openPostgresBench(benchData({ megabytes }));
  const tool = (...words: string[]): Promise<Measured> =>
    measuredRun(process.execPath, [PROGRAM, '--config', server.config, '--json', '--yes', ...words]);
  await tool('build', 'bench');
  await tool('load', 'bench', '--keep-base', '--no-undo');
  const branches: Measured[] = [];
  const copies: Measured[] = [];
  const names = Array.from({ length: count }, (_, index) => `${index + 1}`);
  for (let round = 0; round < ROUNDS; round += 1) {
    copies.push(await fileCopies(server, names));
    await Promise.all(names.map((name) => server.sql('postgres', `DROP DATABASE plain_${name}`)));
    branches.push(await tool('branch', 'create', 'bench', 'w', '--count', String(count)));
    await tool('branch', 'drop', 'bench', ...names.map((name) => `w_${name}`));
  }
  const ratio = (median(branches) / median(copies)).toFixed(2);
  printTable([
    ['', 'seconds', 'of the copies', 'to reach'],
    [`CREATE DATABASE … STRATEGY FILE_COPY, ${count}`, median(copies).toFixed(2), '', ''],
    [`tool branch create --count ${count}`, median(branches).toFixed(2), ratio, '1.1'],
  ]);
  await measureList(server, tool);
}

/** The same number of databases by psql, in as many sessions as the program uses. */
async function fileCopies(server: PostgresBenchServer, names: string[]): Promise<Measured> {
  const started = performance.now();
  const rest = [...names];
  let last: Measured | undefined;
  const session = async (): Promise<void> => {
    for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
      last = await server.sql('postgres', `CREATE DATABASE plain_${name} TEMPLATE "copy.tool-base" STRATEGY FILE_COPY`);
    }
  };
  await Promise.all(Array.from({ length: SESSIONS }, session));
  if (!last) throw new Error('nothing was copied');
  return { ...last, seconds: (performance.now() - started) / 1000 };
}

/** Databases with the mark of a branch: what they hold does not matter to a list. */
async function measureList(
  server: PostgresBenchServer,
  tool: (...words: string[]) => Promise<Measured>,
): Promise<void> {
  await tool('branch', 'create', 'bench', 'listed');
  const comment = `SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = 'copy_listed'`;
  const { output } = await measuredRun(server.tools.psql, ['-XAt', '-d', server.url('postgres'), '-c', comment]);
  const mark = JSON.parse(output);
  for (let index = 1; index < LISTED; index += 1) {
    const [name, database] = [`listed_${index}`, `copy_listed_${index}`];
    await server.sql('postgres', `CREATE DATABASE ${database}`);
    const text = JSON.stringify({ ...mark, branch: { ...mark.branch, name, database } });
    await server.sql('postgres', `COMMENT ON DATABASE ${database} IS '${text}'`);
  }
  const bare: Measured[] = [];
  const lists: Measured[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await measuredRun(process.execPath, [PROGRAM, '--version']));
    lists.push(await tool('branch', 'list', 'bench'));
  }
  const ms = (measured: Measured[]) => (median(measured) * 1000).toFixed(0);
  printTable([
    ['', 'ms', 'to reach'],
    ['tool --version', ms(bare), ''],
    [`tool branch list, ${LISTED} branches`, ms(lists), '300'],
  ]);
}

function median(measured: Measured[]): number {
  return measured.map(({ seconds }) => seconds).sort((a, b) => a - b)[Math.floor(measured.length / 2)] ?? Number.NaN;
}
