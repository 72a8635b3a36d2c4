/**
 * `npm run bench -- branch [MEGABYTES] [BRANCHES]`: branches of one base copy (default: 20 of 500 MB) against the
 * server's own file copies, by as many sessions, in turns; then the list of 200 branches. Medians of three.
 */
import { benchData } from '../helpers/bench-data.ts';
import { type Measured, measuredRun, printTable } from '../helpers/measured-run.ts';
import { openPostgresBench, PROGRAM } from '../helpers/postgres-bench.ts';

const ROUNDS = 3;
const LISTED = 200;
/** As `cpus` of the configuration of the bench. */
const SESSIONS = 2;

const megabytes = Number(process.argv[2] ?? 500);
const count = Number(process.argv[3] ?? 20);
await using server = await openPostgresBench(benchData({ megabytes }));
await measure();

async function measure(): Promise<void> {
  const tool = (...words: string[]): Promise<Measured> =>
    measuredRun(process.execPath, [PROGRAM, '--config', server.config, '--json', '--yes', ...words]);
  await tool('build', 'bench');
  await tool('load', 'bench', '--keep-base', '--no-undo');
  const branches: Measured[] = [];
  const copies: Measured[] = [];
  const names = Array.from({ length: count }, (_, index) => `${index + 1}`);
  for (let round = 0; round < ROUNDS; round += 1) {
    copies.push(await fileCopies(names));
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
  await measureList(tool);
}

/** The same number of databases by psql, in as many sessions as the program uses. */
async function fileCopies(names: string[]): Promise<Measured> {
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
async function measureList(tool: (...words: string[]) => Promise<Measured>): Promise<void> {
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
