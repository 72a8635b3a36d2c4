import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { images } from '../../../src/engines/postgres/images/images.ts';
import { freePort } from '../../../src/engines/shared/server/free-port.ts';
import { build } from '../../../src/operations/build/build.ts';
import { findRequested } from '../../../src/operations/load/find-loadable.ts';
import { applyPrune, planPrune } from '../../../src/operations/prune/prune.ts';
import { prunedCopyLines } from '../../../src/operations/prune/text.ts';
import { applyRemove, planRemove } from '../../../src/operations/remove/remove.ts';
import { applyDown, type DownRequest, planDown } from '../../../src/operations/servers/down/down.ts';
import { listServers } from '../../../src/operations/servers/list/list.ts';
import { sweepImages } from '../../../src/operations/servers/sweep-images.ts';
import { serverUrl } from '../../../src/operations/servers/up/text.ts';
import { applyUp, planUp, type UpRequest } from '../../../src/operations/servers/up/up.ts';
import { localDiskUse } from '../../../src/operations/snapshots/sizes.ts';
import { signState } from '../../../src/operations/state-signature.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import {
  describeWithPostgres,
  dumpAt,
  eventually,
  psqlAt,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';
import { startTool } from '../../helpers/terminal/tool-process.ts';

describeWithPostgres('servers on images', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let settings: Partial<Settings>;
  const inFolder = (name: string): string[] => readdirSync(join(folder.path, name));

  beforeAll(async () => {
    await server.createDatabase('shop');
    await server.psql('shop', {
      sql: `CREATE ROLE clerk;
        CREATE TABLE customer (id integer PRIMARY KEY, name text NOT NULL);
        INSERT INTO customer SELECT i, 'customer ' || i FROM generate_series(1, 1000) i;
        CREATE INDEX ON customer (name);
        CREATE POLICY own ON customer TO clerk USING (true);
        CREATE VIEW named AS SELECT name FROM customer`,
    });
    settings = { working_directory: folder.path, targets: { shop: { snapshot: { src_url: server.url('shop') } } } };
    await build(testContext({ settings }), { target: 'shop' });
  }, 120_000);

  afterAll(async () => {
    const { servers } = await listServers(testContext({ settings }));
    if (servers.length > 0) await down({});
  });

  const up = async (request: Partial<UpRequest> = {}) => {
    const events: RunEvent[] = [];
    const planned = await planUp(testContext({ settings }), { target: 'shop', detach: true, ...request });
    const result = await applyUp(testContext({ settings, events }), planned);
    const url = events.flatMap((one) => (one.event === 'server' ? [serverUrl(one)] : [])).join();
    return { plan: planned.plan, ...result, url };
  };
  const down = async (request: DownRequest) =>
    applyDown(testContext({ settings }), await planDown(testContext({ settings }), request));
  const fileOf = (image: string): string => join(folder.path, 'images', image, 'image.json');
  const imageOf = (image: string) => JSON.parse(readFileSync(fileOf(image), 'utf8'));
  const recordOf = (id: string): { directory: string } =>
    JSON.parse(readFileSync(join(folder.path, 'servers', `${id}.json`), 'utf8'));

  const pidIn = (directory: string): number =>
    Number(readFileSync(join(directory, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);

  it('have the contents of the snapshot, are independent and end with their files', async () => {
    const first = await up();
    expect(first.plan).toMatchObject({
      image: 'new',
      steps: expect.arrayContaining([expect.stringMatching(/^Start PostgreSQL [\d.]+ on it$/)]),
    });
    expect(await dumpAt(first.url)).toBe(await server.dump('shop'));
    const second = await up();
    expect(second.plan.image).toBe('stored');
    await psqlAt(first.url, { sql: 'DELETE FROM customer' });
    expect(await psqlAt(second.url, { sql: 'SELECT count(*) FROM customer' })).toBe('1000\n');
    const other = first.url.replace(/:[0-9a-f]{32}@/, `:${'0'.repeat(32)}@`);
    await expect(psqlAt(other, { sql: 'SELECT 1' })).rejects.toThrow('password authentication failed');
    const state = `SELECT rolsuper, relowner = r.oid, relallvisible = relpages, (SELECT count(*) FROM pg_stats WHERE tablename = relname)
      FROM pg_roles r, pg_class WHERE rolname = current_user AND relname = 'customer'`;
    expect(await psqlAt(second.url, { sql: state })).toBe('f|t|t|2\n');
    const { servers } = await listServers(testContext({ settings }));
    expect(servers.map(({ id }) => id).sort()).toEqual([first.server, second.server].sort());
    expect(servers.every(({ memory_bytes }) => memory_bytes !== null && memory_bytes > 1_000_000)).toBe(true);
    const directories = servers.map(({ id }) => recordOf(id).directory);
    await expect(up({ port: servers[0]?.port })).rejects.toMatchObject({ code: 'invalid_value' });
    // As an earlier version has written it.
    const record = join(folder.path, 'servers', `${servers[0]?.id}.json`);
    const written = JSON.parse(readFileSync(record, 'utf8'));
    writeFileSync(record, JSON.stringify({ ...written, url: undefined }));
    const { servers: again } = await listServers(testContext({ settings }));
    expect(again.map(({ url }) => url)).toEqual(servers.map(({ url }) => url));
    const others = { ...settings, targets: { ...settings.targets, other: {} } };
    await expect(planDown(testContext({ settings: others }), { all: false })).rejects.toMatchObject({
      code: 'missing_argument',
      hint: expect.stringContaining(`shop (port ${servers[0]?.port})`),
    });
    const ofTarget = await planDown(testContext({ settings }), { all: false });
    expect(ofTarget.plan).toMatchObject({ target: 'shop', servers: [{}, {}] });
    expect((await down({ all: false, port: servers[0]?.port })).stopped).toEqual([servers[0]?.id]);
    const single = await planDown(testContext({ settings: others }), { all: false });
    expect((await applyDown(testContext({ settings }), single)).stopped).toEqual([servers[1]?.id]);
    expect(directories.some((directory) => existsSync(directory))).toBe(false);
    const { manifest } = await findRequested(testContext({ settings }), { target: 'shop' });
    const programsFor = (server_version: string) =>
      images.findPrograms(testContext({ settings }), { ...manifest, server_version });
    expect((await programsFor('9.6.24')).differs).toBe(true);
    await expect(programsFor('99.1')).rejects.toMatchObject({ code: 'server_missing' });
    await expect(planDown(testContext({ settings }), {})).rejects.toMatchObject({ code: 'server_unknown' });
  }, 120_000);

  it('leave files that the next command removes after all of them are killed, and no process with the same id', async () => {
    const [image = ''] = inFolder('images');
    const data = join(folder.path, 'images', image, 'data');
    // Neither is taken from an image.
    writeFileSync(join(data, 'standby.signal'), '');
    symlinkSync('/etc/passwd', join(data, 'base', 'link'));
    const { server: id, url } = await up();
    expect(await psqlAt(url, { sql: 'SELECT pg_is_in_recovery()' })).toBe('f\n');
    const { directory } = recordOf(id);
    expect(existsSync(join(directory, 'data', 'base', 'link'))).toBe(false);
    const file = join(directory, 'data', 'postmaster.pid');
    const lines = readFileSync(file, 'utf8').split('\n');
    process.kill(pidIn(directory), 'SIGKILL');
    // The id is that of this process now, which is not ended.
    writeFileSync(file, [process.pid, ...lines.slice(1)].join('\n'));
    await eventually(async () => {
      const { servers } = await listServers(testContext({ settings }));
      return servers.length === 0 && !existsSync(directory);
    });
    expect(inFolder('servers')).toEqual([]);
  }, 60_000);

  it.runIf(process.getuid?.() === 0)(
    'are not those whose folder another user owns, which stays',
    async () => {
      const { server: id } = await up();
      const { directory } = recordOf(id);
      const listed = async () => (await listServers(testContext({ settings }))).servers.map((one) => one.id);
      expect(await listed()).toEqual([id]);
      const { uid, gid } = statSync(directory);
      chownSync(directory, uid + 1, gid);
      try {
        expect(await listed()).toEqual([]);
        expect(existsSync(directory)).toBe(true);
      } finally {
        chownSync(directory, uid, gid);
      }
      await down({});
    },
    60_000,
  );

  it('end with their command, also when that is killed', async () => {
    const config = join(folder.path, 'tool.yml');
    const text = { secret_key: 'ab'.repeat(16), working_directory: folder.path, targets: settings.targets };
    writeFileSync(config, JSON.stringify(text), { mode: 0o600 });
    const ends = [
      { end: 'SIGINT', status: 0 },
      { end: 'SIGKILL', status: null },
      { end: 'down', status: 0 },
      { end: 'server killed', status: 1 },
    ] as const;
    for (const { end, status } of ends) {
      const run = startTool({ config, words: ['up', 'shop'] });
      await run.said('"event":"server"');
      const [running] = (await listServers(testContext({ settings }))).servers;
      const { directory } = recordOf(running?.id ?? '');
      if (end === 'down') await down({});
      else if (end === 'server killed') process.kill(pidIn(directory), 'SIGKILL');
      else run.child.kill(end);
      const { code, output } = await run.ended;
      expect(code, output).toBe(status);
      expect(output.includes('server_ended'), output).toBe(status === 1);
      await eventually(async () => !existsSync(directory));
      expect((await listServers(testContext({ settings }))).servers).toEqual([]);
      expect(inFolder('servers')).toEqual([]);
    }
  }, 60_000);

  it('never run on an image that this user has not made', async () => {
    const [stored = ''] = inFolder('images');
    const other = { ...testContext({ settings }), environment: { HOME: join(folder.path, 'other-user') } };
    expect((await planUp(other, { target: 'shop' })).plan.image).toBe('new');
    const content = readFileSync(fileOf(stored), 'utf8');
    for (const forged of [{ created_at: '2030-01-01T00:00:00.000Z' }, { signature: '' }]) {
      writeFileSync(fileOf(stored), JSON.stringify({ ...imageOf(stored), ...forged }));
      expect((await planUp(testContext({ settings }), { target: 'shop' })).plan.image).toBe('new');
      writeFileSync(fileOf(stored), content);
    }
    // Under another name it is another image.
    const name = '0123456789abcdef';
    const at = (one: string) => join(folder.path, 'images', one);
    renameSync(at(stored), at(name));
    expect((await planUp(testContext({ settings }), { target: 'shop' })).plan.image).toBe('new');
    renameSync(at(name), at(stored));
    expect((await planUp(testContext({ settings }), { target: 'shop' })).plan.image).toBe('stored');
  });

  it('start on the image of another run that has replaced theirs meanwhile', async () => {
    const [stored = ''] = inFolder('images');
    const gone = join(folder.path, 'gone');
    const take = (name: string) => renameSync(join(folder.path, 'images', name), join(gone, name));
    mkdirSync(gone);
    take(stored);
    const context = testContext({ settings });
    let taken = 0;
    const report = (event: RunEvent): void => {
      // Its own image is complete, and not copied yet.
      if (event.event !== 'step' || event.step !== 'start' || event.state !== 'started' || taken > 0) return;
      for (const name of inFolder('images')) take(name);
      taken += 1;
      renameSync(join(gone, stored), join(folder.path, 'images', stored));
    };
    const result = await applyUp({ ...context, report }, await planUp(context, { target: 'shop', detach: true }));
    expect(taken).toBe(1);
    expect(inFolder('images')).toEqual([stored]);
    await down({ target: 'shop' });
    expect(result.detached).toBe(true);
  }, 60_000);

  it('leave nothing when another program takes their port while they start', async () => {
    const other = createServer();
    const port = await freePort();
    const context = testContext({ settings });
    const report = (event: RunEvent): void => {
      if (event.event === 'step' && event.step === 'start' && event.state === 'started')
        other.listen(port, '127.0.0.1');
    };
    const planned = await planUp(context, { target: 'shop', port });
    await expect(applyUp({ ...context, report }, planned)).rejects.toMatchObject({ code: 'invalid_value' });
    other.close();
    expect(inFolder('servers')).toEqual([]);
  });

  it('leave no images of snapshots that are gone; those of unknown targets go when nothing has used them for a week', async () => {
    const [stored = ''] = inFolder('images');
    const imageWith = (name: string, facts: object): void => {
      mkdirSync(join(folder.path, 'images', name));
      writeFileSync(fileOf(name), JSON.stringify({ ...imageOf(stored), ...facts }));
    };
    const [gone, unknown] = ['a'.repeat(16), 'b'.repeat(16)];
    // As an earlier version has written it.
    imageWith(gone, { snapshot: '00000000', extensions: undefined });
    imageWith(unknown, { target: 'other' });
    const context = testContext({ settings });
    // Its snapshots have some kilobytes.
    expect(await localDiskUse(context, 'shop')).toBeGreaterThan(10_000_000);
    const bytes = 5 * 1024 * 1024;
    writeFileSync(join(folder.path, 'images', gone, 'some'), Buffer.alloc(bytes, 1));
    const planned = await planPrune(context, { keep: { last: 1 } });
    expect(planned.plan.frees_bytes).toBeGreaterThanOrEqual(bytes);
    expect(planned.plan.frees_bytes).toBeLessThan(2 * bytes);
    expect(prunedCopyLines(planned.plan)).toEqual([
      expect.stringMatching(/^shop: 1 image, \d+\.\d MB$/),
      'To stop servers: tool down TARGET',
    ]);
    await applyPrune(context, planned);
    expect(inFolder('images').sort()).toEqual([stored, unknown].sort());
    const later = new Date(Date.now() + 8 * 24 * 3_600_000);
    await sweepImages({ ...context, clock: () => later });
    expect(inFolder('images')).toEqual([stored]);
  });

  it('get a new image when the collations have changed, and none is left of a removed snapshot', async () => {
    const [stored = '', ...others] = inFolder('images');
    expect(others).toEqual([]);
    const { signature: _, ...facts } = { ...imageOf(stored), collations: 'c 1.0' };
    const signature = await signState(testContext({ settings }), {
      purpose: 'server image',
      content: { name: stored, ...facts },
    });
    writeFileSync(fileOf(stored), JSON.stringify({ ...facts, signature }));
    const { url, plan } = await up();
    expect(plan.image).toBe('stored');
    expect(await psqlAt(url, { sql: 'SELECT count(*) FROM named' })).toBe('1000\n');
    const [made = ''] = inFolder('images');
    expect(inFolder('images')).not.toContain(stored);
    await build(testContext({ settings }), { target: 'shop' });
    expect((await up()).plan.image).toBe('new');
    expect(inFolder('images')).toHaveLength(1);
    expect(inFolder('images')).not.toContain(made);
    const context = testContext({ settings });
    const removal = await planRemove(context, { target: 'shop', snapshot: 0 });
    // Its snapshot has some kilobytes.
    expect(removal.plan.frees_bytes).toBeGreaterThan(10_000_000);
    const pruned = await planPrune(context, { target: 'shop', keep: {}, remove: [removal.plan.snapshot.id] });
    expect(pruned.plan.frees_bytes).toBe(removal.plan.frees_bytes);
    await applyRemove(context, removal);
    expect(inFolder('images')).toEqual([]);
    expect(await psqlAt(url, { sql: 'SELECT count(*) FROM named' })).toBe('1000\n');
  }, 120_000);
});
