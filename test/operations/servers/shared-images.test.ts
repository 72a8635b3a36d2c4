import { generateKeyPairSync } from 'node:crypto';
import {
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { signingKey } from '../../../src/config/signing-key.ts';
import { images as facet } from '../../../src/engines/postgres/images/images.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyRemove, planRemove } from '../../../src/operations/remove/remove.ts';
import { applySanitize, planSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import { applyDown, planDown } from '../../../src/operations/servers/down/down.ts';
import { findImage, imageKeyOf } from '../../../src/operations/servers/images.ts';
import { listServers } from '../../../src/operations/servers/list/list.ts';
import { findSharedImage, shareImage } from '../../../src/operations/servers/shared-images.ts';
import { serverUrl } from '../../../src/operations/servers/up/text.ts';
import { applyUp, planUp } from '../../../src/operations/servers/up/up.ts';
import { findSnapshot } from '../../../src/operations/snapshots/snapshots.ts';
import { pull } from '../../../src/operations/snapshots/transfer/pull.ts';
import { push } from '../../../src/operations/snapshots/transfer/push.ts';
import { type ImageManifest, signImage } from '../../../src/repository/images/image-manifest.ts';
import { publicKeyText } from '../../../src/repository/manifest/signature.ts';
import { objectKey } from '../../../src/repository/store/keys.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { SnapshotRow } from '../../../src/results/results.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  psqlAt,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const MARK = 'zqkwpfxa';

describeWithPostgres('images beside sanitized snapshots', () => {
  let server: TestPostgres;
  const folder = suiteResource(() => temporaryFolder());
  let maker: Context;
  let key: string;
  let snapshot: SnapshotRow;
  const bucket = (...names: string[]): string => join(folder.path, 'bucket', ...names);

  /** A machine of another user. */
  const machine = (name: string, settings: Partial<Settings> = {}, events: RunEvent[] = []): Context => {
    const context = testContext({
      settings: {
        working_directory: join(folder.path, name, 'work'),
        storage_profiles: { team: { provider: 'folder', path: bucket() } },
        targets: { shop: { share: { storage_profile_name: 'team' } } },
        ...settings,
      },
      events,
    });
    const home = join(folder.path, name);
    return { ...context, environment: { ...process.env, HOME: home, XDG_CONFIG_HOME: home } };
  };

  beforeAll(async () => {
    await mkdir(bucket());
    server = await startPostgres();
    await server.createDatabase('shop');
    await server.psql('shop', {
      sql: `CREATE TABLE customer (id integer PRIMARY KEY, name text NOT NULL);
        INSERT INTO customer SELECT i, '${MARK}-' || i FROM generate_series(1, 20000) i;
        CREATE INDEX ON customer (name);
        CREATE TABLE letter (id integer PRIMARY KEY, body text);
        INSERT INTO letter SELECT i, repeat('${MARK} ' || i, 2000) FROM generate_series(1, 50) i;
        ANALYZE`,
    });
    const sanitize = { override_query: "UPDATE customer SET name = 'person ' || id; DELETE FROM letter" };
    const source = { storage_profile: 'team', image: true, snapshot: { src_url: server.url('shop') }, sanitize };
    maker = machine('maker', { targets: { shop: source } });
    key = publicKeyText(await signingKey(maker.environment));
    const request = { target: 'shop', build: {}, ephemeral: true, strict: false };
    snapshot = (await applySanitize(maker, await planSanitize(maker, request))).snapshot;
  }, 120_000);

  afterAll(async () => {
    for (const reader of ['reader', 'victim'].map((name) => machine(name))) {
      if ((await listServers(reader)).servers.length > 0) await applyDown(reader, await planDown(reader, {}));
    }
    await server?.stop();
  });

  const images = (): string[] => globSync(bucket('snapshots', 'image+*', '*'));
  const work = ({ configuration }: Context, ...names: string[]): string =>
    join(configuration.settings.working_directory, ...names);
  const filesBelow = (path: string): string[] =>
    globSync(join(path, '**', '*')).filter((file) => statSync(file).isFile());
  const marked = (path: string): string[] => filesBelow(path).filter((file) => readFileSync(file).includes(MARK));

  const up = async (context: Context) => {
    const events: RunEvent[] = [];
    const planned = await planUp(context, { target: 'shop', detach: true });
    const reporting = { ...context, report: (event: RunEvent) => void events.push(event) };
    await applyUp(reporting, planned);
    const url = events.flatMap((one) => (one.event === 'server' ? [serverUrl(one)] : [])).join();
    const steps = events.flatMap((one) => (one.event === 'step' && one.state === 'done' ? [one.label] : []));
    return { plan: planned.plan, url, steps };
  };

  it('start on another machine, which trusts the key, without the snapshot', async () => {
    const reader = machine('reader', { trusted_keys: [key] });
    const { plan, url, steps } = await up(reader);
    expect(plan.image).toBe('shared');
    expect(steps.join('\n')).toMatch(/^Pulled \d+ objects of the image from .*\nStarted a server for shop$/);
    const rows = await psqlAt(url, { sql: 'SELECT count(*), min(name) FROM customer' });
    expect(rows).toBe('20000|person 1\n');
    expect(existsSync(work(reader, 'objects'))).toBe(false);
    expect((await planUp(reader, { target: 'shop' })).plan.image).toBe('stored');
    await applyDown(reader, await planDown(reader, {}));
  }, 60_000);

  it('are used only as long as their key is trusted, and never pushed in the name of who fetched them', async () => {
    const shop = { storage_profile: 'mine', image: true, share: { storage_profile_name: 'team' } };
    const storage_profiles: Settings['storage_profiles'] = {
      team: { provider: 'folder', path: bucket() },
      mine: { provider: 'folder', path: join(folder.path, 'mine') },
    };
    await mkdir(join(folder.path, 'mine'));
    const reader = machine('reader', { trusted_keys: [key], storage_profiles, targets: { shop } });
    const { manifest } = await findSnapshot(reader, { target: 'shop' });
    const wanted = imageKeyOf(facet, {
      target: 'shop',
      manifest,
      programs: await facet.findPrograms(reader, manifest),
    });
    const fetched = await findImage(reader, wanted);
    expect(fetched).toMatchObject({ manifest: { signer: key } });
    expect(await findImage(machine('reader'), wanted)).toBeUndefined();
    expect(await findImage(machine('reader', { trusted_keys: [] }), wanted)).toBeUndefined();
    await pull(reader, { target: 'shop' });
    await push(reader, { target: 'shop' });
    expect(globSync(join(folder.path, 'mine', 'snapshots', 'image+*', '*'))).toHaveLength(1);
    const own = await findImage(reader, wanted);
    expect(own?.folder).not.toBe(fetched?.folder);
    expect(own?.manifest).not.toHaveProperty('signer');
  }, 60_000);

  it('have no byte of a marked value of the original, whose own image stays on its machine', async () => {
    expect(images()).toHaveLength(1);
    expect(filesBelow(work(maker, 'images')).length).toBeGreaterThan(100);
    expect(marked(work(maker, 'images'))).toEqual([]);
    const source = { storage_profile: 'team', image: true, snapshot: { src_url: server.url('shop') } };
    const other = machine('other', { targets: { plain: source } });
    const original = await build(other, { target: 'plain' });
    expect(original.where).toEqual(['local', 'remote']);
    expect(marked(work(other, 'images')).length).toBeGreaterThan(2);
    expect(images()).toHaveLength(1);
    await push(other, { target: 'plain' });
    expect(images()).toHaveLength(1);
  }, 60_000);

  it('are refused when they were forged or damaged, with nothing started and nothing left', async () => {
    const [file = ''] = images();
    const reader = machine('victim', { trusted_keys: [key] });
    const whole = readFileSync(file, 'utf8');
    const { signature, ...image } = JSON.parse(whole) as ImageManifest;
    const own = await signingKey(maker.environment);
    const { privateKey: stranger } = generateKeyPairSync('ed25519');
    const withFile = (path: string, bytes = 0): string =>
      signed({ ...image, files: [...image.files, { path, bytes }] });
    const signed = (forged: Omit<ImageManifest, 'signature'>, by = own): string =>
      JSON.stringify(signImage(forged, by));
    const [chunk] = image.chunks;
    const last = image.files.length;
    const sha256 = '0'.repeat(64);
    const huge = (chunks: number) => {
      const bytes = 8 * 1024 * 1024;
      const at = Array.from({ length: chunks }, (_, n) => ({
        sha256,
        pieces: [{ file: last, offset: n * bytes, bytes }],
      }));
      const files = [...image.files, { path: 'base/5/99', bytes: chunks * bytes }];
      return signed({ ...image, files, chunks: [...image.chunks, ...at] });
    };
    const forgeries: Record<string, string> = {
      'not signed': JSON.stringify(image),
      'signed by a stranger': signed(image, stranger),
      'changed after it was signed': JSON.stringify({ ...image, version: '15.1', signature }),
      'signed by a stranger in the name of the key': JSON.stringify({
        ...signImage(image, stranger),
        signature: { ...signImage(image, stranger).signature, key },
      }),
      'of another snapshot': signed({ ...image, snapshot: '00000000' }),
      'of another target': signed({ ...image, target: 'other' }),
      'with an unknown key': signed({ ...image, hooks: ['/bin/sh'] } as unknown as ImageManifest),
      'a chunk outside its file': signed({ ...image, files: image.files.map((one) => ({ ...one, bytes: 1 })) }),
      'two chunks at one place': signed({ ...image, chunks: [...image.chunks, ...(chunk ? [chunk] : [])] }),
      'a file of a petabyte': withFile('base/5/99', 2 ** 50),
      'a file in no folder': withFile('base/9999999/99'),
      'a folder of a tablespace': signed({ ...image, folders: [...image.folders, 'pg_tblspc/16384'] }),
      'no JSON': whole.slice(1),
      ...Object.fromEntries(
        [
          ...['../evil', 'base/../../evil', '/etc/evil', 'base//5', './base', 'base/5/..', '.hidden', 'base\\..\\evil'],
          ...[
            'base/5/1259',
            'postgresql.auto.conf',
            'postgresql.conf',
            'pg_hba.conf',
            'recovery.signal',
            'base/5/x.so',
          ],
          ...['standby.signal', 'global/pg_internal.init', 'pg_replslot/a/state', 'base/5/12\n59', 'backup_label'],
        ].map((path) => [path, withFile(path)]),
      ),
    };
    const found = await findSnapshot(reader, { target: 'shop' });
    const programs = await facet.findPrograms(reader, found.manifest);
    const wanted = imageKeyOf(facet, { target: 'shop', manifest: found.manifest, programs });
    const refusal = (): Promise<unknown> =>
      findSharedImage(reader, { facet, wanted, found }).catch((error: { code: string }) => error.code);
    const left = () => ['images', 'servers', 'staging'].flatMap((name) => filesBelow(work(reader, name)));
    for (const [what, text] of Object.entries(forgeries)) {
      writeFileSync(file, text);
      expect(await refusal(), what).toBe('image_refused');
    }
    writeFileSync(file, '');
    truncateSync(file, 65 * 1024 * 1024);
    expect(await refusal()).toBe('image_refused');
    writeFileSync(file, whole);
    expect(await refusal()).toMatchObject({ image: { snapshot: snapshot.id } });
    const original = { ...found, row: { ...found.row, sanitized: false } };
    const sharing = findSharedImage(reader, { facet, wanted, found: original });
    await expect(sharing).rejects.toMatchObject({ code: 'image_refused' });
    const { bavail, bsize } = statfsSync(folder.path);
    writeFileSync(file, whole);
    const planned = await planUp(reader, { target: 'shop', detach: true });
    writeFileSync(file, JSON.stringify(image));
    await expect(planUp(reader, { target: 'shop' })).rejects.toMatchObject({ code: 'image_refused' });
    // After the plan.
    writeFileSync(file, signed(image, stranger));
    await expect(applyUp(reader, planned)).rejects.toMatchObject({ code: 'image_refused' });
    writeFileSync(file, huge(Math.ceil((bavail * bsize) / 8_000_000)));
    await expect(applyUp(reader, planned)).rejects.toMatchObject({ code: 'disk_full' });
    writeFileSync(file, signed({ ...image, chunks: image.chunks.map((one) => ({ ...one, sha256 })) }));
    await expect(applyUp(reader, planned)).rejects.toMatchObject({ code: 'image_refused' });
    writeFileSync(file, whole);
    const [one = '', two = ''] = image.chunks.map((each) => bucket(objectKey(each.sha256)));
    const content = readFileSync(one);
    for (const [what, other] of [readFileSync(two), content.subarray(0, 20), Buffer.alloc(content.length)].entries()) {
      writeFileSync(one, other);
      await expect(applyUp(reader, planned), String(what)).rejects.toMatchObject({ code: 'snapshot_damaged' });
    }
    rmSync(one);
    symlinkSync('/etc/passwd', one);
    await expect(applyUp(reader, planned)).rejects.toMatchObject({ code: 'content_refused' });
    rmSync(one);
    writeFileSync(one, content);
    expect(left()).toEqual([]);
    expect(existsSync(work(reader, 'servers'))).toBe(false);
  }, 60_000);

  it('are not used by who has not said whom to trust, or has another server, and the plan says so', async () => {
    const [file = ''] = images();
    const whole = readFileSync(file, 'utf8');
    const { plan } = await planUp(machine('stranger'), { target: 'shop' });
    expect(plan.image).toBe('new');
    expect(plan.steps[0]).toContain(`it is signed by a key that is not in trusted_keys: ${key}`);
    const { signature: _, ...image } = JSON.parse(whole) as ImageManifest;
    writeFileSync(file, JSON.stringify(signImage({ ...image, version: '9.6.1' }, await signingKey(maker.environment))));
    const other = await planUp(machine('older', { trusted_keys: [key] }), { target: 'shop' });
    expect(other.plan.image).toBe('new');
    expect(other.plan.steps[0]).toContain('it is of version 9.6.1');
    writeFileSync(file, whole);
    // Those of servers with another major version have another name.
    expect(basename(file)).toMatch(
      new RegExp(`Z-${snapshot.id}\\+${Number.parseInt(image.version, 10)}-${process.platform}-`),
    );
  });

  it('stay when another machine pushes the snapshot, and are pushed again when a chunk is missing', async () => {
    const [file = ''] = images();
    const whole = readFileSync(file, 'utf8');
    const [chunk] = (JSON.parse(whole) as ImageManifest).chunks;
    const request = { target: 'shop', snapshot: snapshot.id };
    await push(maker, request);
    const { mtimeMs } = statSync(file);
    rmSync(bucket(objectKey(chunk?.sha256 ?? '')));
    await push(maker, request);
    expect(statSync(file).mtimeMs).toBeGreaterThan(mtimeMs);
    expect(existsSync(bucket(objectKey(chunk?.sha256 ?? '')))).toBe(true);
    await push(maker, request);
    expect(readFileSync(file, 'utf8')).toBe(whole);
    const { manifest, remote } = await findSnapshot(maker, request);
    const programs = await facet.findPrograms(maker, manifest);
    const wanted = imageKeyOf(facet, { target: 'shop', manifest, programs });
    const image = await findImage(maker, wanted);
    if (!image || !remote) throw new Error('no image');
    const sharing = shareImage(maker, { image, wanted, facet, remote, sanitized: false });
    await expect(sharing).rejects.toMatchObject({ code: 'image_refused' });
  });

  it('go with their snapshot', async () => {
    expect(images()).toHaveLength(1);
    const context = { ...maker, clock: () => new Date(Date.now() + 2 * 24 * 3_600_000) };
    await applyRemove(context, await planRemove(context, { target: 'shop', snapshot: snapshot.id }));
    expect(images()).toEqual([]);
    expect(readdirSync(work(maker, 'images'))).toEqual([]);
  });
});
