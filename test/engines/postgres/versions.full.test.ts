import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planLoad } from '../../../src/operations/load/load.ts';
import { createLocalRepository } from '../../../src/repository/local-repository.ts';
import { mountXfs, startInside } from '../../helpers/postgres/debian-postgres.ts';
import { canHaveSid, type DebianTree, debianTree } from '../../helpers/postgres/debian-tree.ts';
import {
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';

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
  { suite: 'sid+experimental', major: 19 },
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

  it('builds and loads the whole demo', async () => {
    const { exit, output } = await debian.shell(`cd /tmp && node ${MAIN} demo </dev/null`);
    expect(output).toContain(`Connected to PostgreSQL ${major}`);
    expect(output).toMatch(/Restored the previous /);
    expect(exit).toBe(0);
  }, 120_000);

  it.skipIf(major < 15)(
    'dumps and restores an older server, by swap and in place; older tools refuse its snapshot',
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

  it.skipIf(major < 18)(
    'shares the blocks of a base copy, a spare and a reset on a file system with reflinks',
    async ({ skip }) => {
      const mount = await mountXfs(debian).catch((error: Error) =>
        skip(`XFS cannot be mounted here: ${error.message}`),
      );
      await using reflinks = mount;
      await using server = await startInside(debian, major, { folder: join(reflinks.inside, 'data') });
      await server.psql('postgres', 'CREATE DATABASE shop');
      await server.psql(
        'shop',
        'CREATE TABLE a AS SELECT i, repeat(md5(i::text), 20) FROM generate_series(1, 100000) i',
      );
      const folder = await mkdtemp(join(debian.root, 'tmp/tool-'));
      const inside = folder.slice(debian.root.length);
      await configure(folder, settings(inside, server));
      const tool = async (words: string): Promise<string> => {
        const { exit, output } = await debian.shell(`node ${MAIN} --config ${inside}/tool.yml --yes ${words}`);
        expect(exit, output).toBe(0);
        return output;
      };
      await tool('build shop');
      await tool('load shop');
      const size = Number(await server.psql('postgres', "SELECT pg_database_size('copy')"));
      expect(size).toBeGreaterThan(64 * 1024 * 1024);
      const before = await reflinks.usedBytes();
      // Each reset takes the spare, keeps the replaced database, and makes the next spare.
      await tool('load shop --spare');
      await tool('reset shop --spare');
      await tool('reset shop --spare');
      expect(await tool('branch create shop one --dry-run')).toContain(
        'Create branch one as copy_one: clone its files, or copy them if the file system cannot',
      );
      const cloning = await reflinks.usedBytes();
      await tool('branch create shop w --count 8');
      expect((await reflinks.usedBytes()) - cloning).toBeLessThan(0.1 * 8 * size);
      const { branches } = JSON.parse(await tool('branch list shop --json'));
      expect(branches.map(({ own_bytes }: { own_bytes: number | null }) => own_bytes)).toEqual(Array(8).fill(null));
      await tool(`branch drop shop ${branches.map(({ name }: { name: string }) => name).join(' ')}`);
      const databases = await server.psql('postgres', "SELECT count(*) FROM pg_database WHERE datname LIKE 'copy%'");
      expect(databases).toBe('4\n');
      // Four databases of one content; without clones these were three more of them.
      expect((await reflinks.usedBytes()) - before).toBeLessThan(1.5 * size);
      await rm(folder, { recursive: true });
    },
    180_000,
  );

  it.skipIf(major < 19)(
    'reads large objects of others with the rights of pg_read_all_data',
    async () => {
      await using server = await startInside(debian, major);
      await server.psql('postgres', 'CREATE ROLE reader LOGIN IN ROLE pg_read_all_data');
      await server.psql('postgres', 'CREATE DATABASE shop');
      await server.psql('shop', `${ROWS}; SELECT lo_from_bytea(7, 'content')`);
      const folder = await mkdtemp(join(debian.root, 'tmp/tool-'));
      const inside = folder.slice(debian.root.length);
      const reader = { url: (name: string) => server.url(name).replace('postgres@', 'reader@') };
      await configure(folder, settings(inside, reader));
      const { exit, output } = await debian.shell(`node ${MAIN} --config ${inside}/tool.yml --yes build shop`);
      expect(exit, output).toBe(0);
      const [manifest] = await createLocalRepository({ directory: join(folder, 'work'), report: () => {} }).list(
        'shop',
      );
      expect(manifest?.details).toMatchObject({ inventory: { large_objects: { count: 1, bytes: 7 } } });
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
