import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROGRAM } from '../program.ts';
import { type Measured, measuredRun } from '../terminal/measured-run.ts';
import { type Contestant, inTurns } from '../turns.ts';
import { openPostgresBench, type PostgresBenchServer } from './postgres-bench.ts';

const TRUNCATE = `DO $$ BEGIN EXECUTE (SELECT 'TRUNCATE ' || string_agg(oid::regclass::text, ', ')
  FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace); END $$`;
/** Rows of one table, as a person changes some. */
const CHANGE = `DO $$ BEGIN EXECUTE (SELECT format('DELETE FROM %s WHERE ctid IN (SELECT ctid FROM %s LIMIT 10)', oid::regclass, oid::regclass)
  FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname DESC LIMIT 1); END $$`;

/** Measures the tasks of the page with PostgreSQL, ours and those of others in turns. */
export async function measurePostgres({ statements, rounds }: { statements: string[]; rounds: number }) {
  await using server = await openPostgresBench(statements);
  const tool = await configured(server);
  return await inTurns([...dumps(server, tool), ...restores(server, tool), ...others(server, tool)], rounds);
}

type Tool = (...words: string[]) => Promise<Measured>;

/** Adds a folder for pushes; a configuration with a repository of its own, for pulls; and one with the default saves. */
async function configured({ config, folder }: PostgresBenchServer): Promise<Tool> {
  await mkdir(join(folder, 'shelf'));
  const text = (await readFile(config, 'utf8')).replace(
    'targets: { bench: {',
    `storage_profiles: { shelf: { provider: folder, path: ${join(folder, 'shelf')} } }\ntargets: { bench: { storage_profile: shelf,`,
  );
  await writeFile(config, text, { mode: 0o600 });
  await writeFile(savingConfig(folder), text.replace(/^saves: .*\n/m, ''), { mode: 0o600 });
  await writeFile(pullingConfig(folder), text.replace(join(folder, 'work'), pulled(folder)), { mode: 0o600 });
  return (...words) => measuredRun(process.execPath, [PROGRAM, '--config', config, '--json', '--yes', ...words]);
}

function pullingConfig(folder: string): string {
  return join(folder, 'pulling.yml');
}

function savingConfig(folder: string): string {
  return join(folder, 'saving.yml');
}

function pulled(folder: string): string {
  return join(folder, 'pulled');
}

function dumps({ url, tools, folder }: PostgresBenchServer, tool: Tool): Contestant[] {
  const task = 'dump';
  const remove = (...names: string[]) =>
    Promise.all(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
  const bench = url('bench');
  return [
    {
      ...{ task, command: 'pg_dump -Fd -j2 -Z1', isOwn: false, before: () => remove('directory') },
      run: () => measuredRun(tools.pg_dump, ['-Fd', '-j2', '-Z1', '-f', join(folder, 'directory'), '-d', bench]),
    },
    {
      ...{ task, command: 'pg_dump -Fc', isOwn: false },
      run: () => measuredRun(tools.pg_dump, ['-Fc', '-f', join(folder, 'custom'), '-d', bench]),
    },
    {
      ...{ task, command: 'pg_dump, zstd -1', isOwn: false },
      run: () =>
        measuredRun('bash', [
          '-o',
          'pipefail',
          '-c',
          `'${tools.pg_dump}' -d '${bench}' | zstd -1 -q -f -o '${folder}/plain.zst'`,
        ]),
    },
    {
      ...{ task, command: 'tool build', isOwn: true, before: () => remove('work') },
      run: () => tool('build', 'bench', '--no-push'),
    },
    { task, command: 'tool build, again', isOwn: true, run: () => tool('build', 'bench', '--no-push') },
  ];
}

function restores({ url, tools, folder, sql }: PostgresBenchServer, tool: Tool): Contestant[] {
  const fresh = async (): Promise<void> => {
    await sql('postgres', 'DROP DATABASE IF EXISTS raw WITH (FORCE)');
    await sql('postgres', 'CREATE DATABASE raw');
    await sql('postgres', `ALTER DATABASE raw SET maintenance_work_mem = '1GB'`);
  };
  const restore = (archive: string) => measuredRun(tools.pg_restore, ['-j2', '-d', url('raw'), join(folder, archive)]);
  const task = 'restore';
  return [
    { task, command: 'pg_restore -j2, of -Fd', isOwn: false, before: fresh, run: () => restore('directory') },
    { task, command: 'pg_restore -j2, of -Fc', isOwn: false, before: fresh, run: () => restore('custom') },
    { task, command: 'tool load', isOwn: true, run: () => tool('load', 'bench', '--full', '--no-undo') },
  ];
}

function others({ folder, sql }: PostgresBenchServer, tool: Tool): Contestant[] {
  const again = 'return to the start';
  return [
    {
      ...{ task: again, command: 'CREATE DATABASE … TEMPLATE', isOwn: false },
      before: () => sql('postgres', 'DROP DATABASE IF EXISTS template_copy'),
      run: () => sql('postgres', 'CREATE DATABASE template_copy TEMPLATE raw STRATEGY FILE_COPY'),
    },
    { task: 'empty the tables', command: 'TRUNCATE', isOwn: false, run: () => sql('template_copy', TRUNCATE) },
    {
      ...{ task: again, command: 'tool reset', isOwn: true },
      before: async () => {
        await tool('load', 'bench', '--full', '--no-undo', '--keep-base');
        await sql('copy', CHANGE);
      },
      run: () => tool('reset', 'bench', '--config', savingConfig(folder)),
    },
    {
      ...{ task: 'save', command: 'tool save', isOwn: true, before: () => sql('copy', CHANGE) },
      run: () => tool('save', 'bench'),
    },
    { task: 'changes', command: 'tool changes', isOwn: true, run: () => tool('changes', 'bench') },
    {
      ...{ task: 'push', command: 'tool push', isOwn: true },
      before: async () => {
        await rm(join(folder, 'shelf'), { recursive: true, force: true });
        await mkdir(join(folder, 'shelf'));
      },
      run: () => tool('push', 'bench'),
    },
    {
      ...{
        task: 'push',
        command: 'tool push, after a build again',
        isOwn: true,
        before: () => tool('build', 'bench', '--no-push'),
      },
      run: () => tool('push', 'bench'),
    },
    {
      ...{
        task: 'pull',
        command: 'tool pull',
        isOwn: true,
        before: () => rm(pulled(folder), { recursive: true, force: true }),
      },
      run: () => tool('pull', 'bench', '--config', pullingConfig(folder)),
    },
  ];
}
