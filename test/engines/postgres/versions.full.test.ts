import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planLoad } from '../../../src/operations/load/load.ts';
import { canHaveSid, type DebianTree, debianTree } from '../../helpers/debian-sid.ts';
import { freePort } from '../../helpers/free-port.ts';
import { startPostgres, type TestPostgres, temporaryFolder, testContext } from '../../helpers/postgres-server.ts';

const run = promisify(execFile);
const MAIN = new URL('../../../src/main.ts', import.meta.url).pathname;
const lacking = canHaveSid ? '' : ' (needs root and debootstrap)';

const ROWS = `CREATE TABLE a (id integer PRIMARY KEY, text text); INSERT INTO a SELECT i, md5(i::text) FROM generate_series(1, 5000) i;
  CREATE TABLE b (id integer PRIMARY KEY, a_id integer REFERENCES a); INSERT INTO b SELECT i, i FROM generate_series(1, 5000) i;
  CREATE TABLE c AS SELECT FROM generate_series(1, 5000)`;

function settings(folder: string, server: { url(database: string): string }) {
  const shop = { snapshot: { src_url: server.url('shop'), dst_url: server.url('copy') } };
  return { secret_key: 'ab'.repeat(16), working_directory: `${folder}/work`, targets: { shop } };
}

async function configure(folder: string, text: object): Promise<void> {
  await mkdir(join(folder, 'work'));
  await writeFile(join(folder, 'tool.yml'), JSON.stringify(text), { mode: 0o600 });
}

describe.skipIf(!canHaveSid).each([
  { suite: 'bullseye', major: 13 },
  { suite: 'trixie', major: 17 },
  { suite: 'sid', major: 18 },
])(`PostgreSQL $major of Debian's $suite${lacking}`, ({ suite, major }) => {
  let debian: DebianTree;
  let here: TestPostgres;

  beforeAll(async () => {
    [debian, here] = await Promise.all([debianTree(suite, [`postgresql-${major}`, 'procps']), startPostgres()]);
    await here.createDatabase('shop');
    await here.psql('shop', { sql: ROWS });
  }, 300_000);

  afterAll(async () => {
    await here?.stop();
  });

  it('carries the whole demo', async () => {
    const { exit, output } = await debian.shell(`cd /tmp && node ${MAIN} demo </dev/null`);
    expect(output).toContain(`Connected to PostgreSQL ${major}`);
    expect(output).toMatch(/Restored the previous /);
    expect(exit).toBe(0);
  }, 120_000);

  it.skipIf(major < 15)(
    'dumps and restores an older server, beside the destination and in place; older tools refuse its snapshot',
    async () => {
      const folder = await mkdtemp(join(debian.root, 'tmp/tool-'));
      const inside = folder.slice(debian.root.length);
      await configure(folder, settings(inside, here));
      const tool = `node ${MAIN} --config ${inside}/tool.yml --yes`;
      const { exit, output } = await debian.shell(
        `${tool} build shop && ${tool} load shop && ${tool} load shop --in-place && ${tool} load shop --destdb '${here.url('other')}' && ${tool} load shop --tables public.b --destdb '${here.url('part')}'`,
      );
      expect(output).not.toContain('error');
      expect(exit).toBe(0);
      const source = await here.dump('shop');
      expect(await here.dump('copy')).toBe(source);
      expect(await here.dump('other')).toBe(source);
      const counts = 'SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b), (SELECT count(*) FROM c)';
      expect(await here.psql('part', { sql: counts })).toBe('5000|5000|0\n');

      const context = testContext({ settings: settings(folder, here) });
      await expect(planLoad(context, { target: 'shop' })).rejects.toMatchObject({ code: 'tools_too_old' });
      await rm(folder, { recursive: true });
    },
    120_000,
  );

  it.skipIf(major > 15)(
    'refuses a server that is newer than its tools, before anything is touched',
    async () => {
      const folder = await mkdtemp(join(debian.root, 'tmp/tool-'));
      const inside = folder.slice(debian.root.length);
      await configure(folder, settings(inside, here));
      const { exit, output } = await debian.shell(`node ${MAIN} --config ${inside}/tool.yml --yes build shop`);
      expect(output).toMatch(/The server is PostgreSQL 15\S*, but the newest pg_dump here is 13/);
      expect(exit).toBe(1);
      await rm(folder, { recursive: true });
    },
    120_000,
  );

  it.skipIf(major > 15)(
    'is dumped and restored by the newer tools of this machine',
    async () => {
      await using server = await startInside(debian, major);
      await server.psql('postgres', 'CREATE DATABASE shop');
      await server.psql('shop', ROWS);
      await using folder = await temporaryFolder();
      await configure(folder.path, settings(folder.path, server));
      const config = join(folder.path, 'tool.yml');
      for (const words of [['build'], ['load'], ['load', '--in-place']]) {
        await run(process.execPath, [MAIN, '--config', config, '--yes', ...words, 'shop']);
      }
      const counts = 'SELECT (SELECT count(*) FROM a), (SELECT sum(a_id) FROM b)';
      expect(await server.psql('copy', counts)).toBe('5000|12502500\n');
    },
    120_000,
  );
});

/** A server of the tree, reached over its port; what comes after `-c` is a statement. */
async function startInside({ shell }: DebianTree, major: number) {
  const port = await freePort();
  const data = `/tmp/tool-data-${port}`;
  const control = `su postgres -c "/usr/lib/postgresql/${major}/bin/pg_ctl --pgdata=${data} --silent --wait`;
  const { output, exit } = await shell(
    `su postgres -c "/usr/lib/postgresql/${major}/bin/initdb --auth=trust --no-sync ${data}" &&
      ${control} --log=/dev/null --options='-c port=${port} -c unix_socket_directories= -c fsync=off' start" </dev/null >/dev/null`,
  );
  if (exit !== 0) throw new Error(output);
  const url = (database: string): string => `postgres://postgres@127.0.0.1:${port}/${database}`;
  return {
    url,
    psql: async (database: string, sql: string): Promise<string> =>
      (await run('psql', ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', url(database), '-c', sql])).stdout,
    async [Symbol.asyncDispose]() {
      await shell(`${control} --mode=immediate stop"; rm -r ${data}`);
    },
  };
}
