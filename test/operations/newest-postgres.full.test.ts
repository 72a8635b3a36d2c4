import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planLoad } from '../../src/operations/load.ts';
import { canHaveSid, type DebianSid, debianSid } from '../helpers/debian-sid.ts';
import { startPostgres, type TestPostgres, testContext } from '../helpers/postgres-server.ts';

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;
const lacking = canHaveSid ? '' : ' (needs root and debootstrap)';

/** Its psql, pg_dump and server are all newer than those of this machine. */
describe.skipIf(!canHaveSid)(`the PostgreSQL of Debian's unstable suite${lacking}`, () => {
  let sid: DebianSid;
  let older: TestPostgres;
  let folder: string;
  const file = (path: string): string => join(sid.root, path);

  beforeAll(async () => {
    [sid, older] = await Promise.all([debianSid(['postgresql-18', 'procps']), startPostgres()]);
    folder = await mkdtemp(file('tmp/tool-'));
  }, 300_000);

  afterAll(async () => {
    await older.stop();
    await rm(folder, { recursive: true });
  });

  it('carries the whole demo', async () => {
    const { exit, output } = await sid.shell(`cd /tmp && node ${MAIN} demo </dev/null`);
    expect(output).toContain('Connected to PostgreSQL 18');
    expect(output).toMatch(/Undone: .* is what it was before/);
    expect(exit).toBe(0);
  }, 120_000);

  it('dumps and restores an older server, beside the destination and in place; older tools refuse its snapshot', async () => {
    await older.createDatabase('shop');
    await older.psql('shop', {
      sql: `CREATE TABLE a (id integer PRIMARY KEY, text text); INSERT INTO a SELECT i, md5(i::text) FROM generate_series(1, 5000) i;
        CREATE TABLE b (id integer PRIMARY KEY, a_id integer REFERENCES a); INSERT INTO b SELECT i, i FROM generate_series(1, 5000) i`,
    });
    const inside = folder.slice(sid.root.length);
    const settings = {
      working_directory: `${inside}/work`,
      targets: { shop: { snapshot: { src_url: older.url('shop'), dst_url: older.url('copy') } } },
    };
    await mkdir(join(folder, 'work'));
    await writeFile(join(folder, 'tool.yml'), JSON.stringify({ secret_key: 'ab'.repeat(16), ...settings }), {
      mode: 0o600,
    });
    const tool = `node ${MAIN} --config ${inside}/tool.yml --yes`;
    const { exit, output } = await sid.shell(
      `${tool} build shop && ${tool} load shop && ${tool} load shop --in-place && ${tool} load shop --destdb '${older.url('other')}'`,
    );
    expect(output).not.toContain('error');
    expect(exit).toBe(0);
    const source = await older.dump('shop');
    expect(await older.dump('copy')).toBe(source);
    expect(await older.dump('other')).toBe(source);

    const context = testContext({ settings: { ...settings, working_directory: join(folder, 'work') } });
    await expect(planLoad(context, { target: 'shop' })).rejects.toMatchObject({ code: 'tools_too_old' });
  }, 120_000);
});
