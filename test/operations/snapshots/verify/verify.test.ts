import { randomBytes } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { push } from '../../../../src/operations/snapshots/transfer/push.ts';
import { verify } from '../../../../src/operations/snapshots/verify/verify.ts';
import type { Manifest } from '../../../../src/repository/manifest/manifest.ts';
import type { BucketProfile } from '../../../../src/repository/s3/connection.ts';
import { createS3Store } from '../../../../src/repository/s3/store.ts';
import { objectKey } from '../../../../src/repository/store/keys.ts';
import { startFaultProxy } from '../../../helpers/storage/fault-proxy.ts';
import { type Machine, machine } from '../../../helpers/storage/machine.ts';
import { describeWithS3, startS3 } from '../../../helpers/storage/s3-server.ts';
import { storeTables } from '../../../helpers/storage/stored-snapshot.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const TABLES = 40;

describeWithS3('verify', () => {
  const server = suiteResource(() => startS3());
  const proxy = suiteResource(() => startFaultProxy(server.endpoint));
  let profile: BucketProfile;
  let here: Machine;
  let manifest: Manifest;

  beforeEach(async () => {
    profile = await server.bucket();
    here = await machine({ profile: { ...profile, endpoint: proxy.endpoint } });
    const contents = Object.fromEntries(Array.from({ length: TABLES }, (_, n) => [`t${n}`, randomBytes(1000 + n)]));
    manifest = await storeTables(here.directory, {
      ...{ target: 'app', id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z', contents },
    });
    await push(here.context, { target: 'app' });
    proxy.requests.length = 0;
  });

  afterEach(() => here[Symbol.asyncDispose]());

  const fetched = (): number =>
    new Set(proxy.requests.filter(({ method, key }) => method === 'GET' && key.startsWith('objects/'))).size;

  /** Puts another table's object in the place of a table's. */
  async function damage(place: 'local' | 'remote', table: number): Promise<void> {
    const [object, other] = [table, (table + 1) % TABLES].map((n) => manifest.tables[n]?.file);
    if (!object || !other) throw new Error('there is no such table');
    const wrong = here.repository.object(other).path;
    if (place === 'local') return await copyFile(wrong, here.repository.object(object).path);
    const store = await createS3Store({ name: 'team', profile, signal: here.context.signal });
    await store.put(objectKey(object.sha256), wrong, { signal: here.context.signal, onBytes: () => {} });
  }

  it.each([
    [1, 1],
    [10, 4],
    [33, 14],
    [100, 40],
  ])('a sample of %i %% of forty objects reads %i of them, and fetches no others', async (sample, files) => {
    const verified = await verify(here.context, { target: 'app', remote: true, sample });
    expect(verified).toMatchObject({ ok: true, files, problems: [] });
    expect(fetched()).toBe(files);
  });

  it.each(['local', 'remote'] as const)('damage in a sampled object is found (%s)', async (place) => {
    for (let table = 0; table < TABLES; table += 2) await damage(place, table);
    const request = { target: 'app', remote: place === 'remote' };
    const half = { ok: false, problems: expect.objectContaining({ length: TABLES / 2 }) };
    expect(await verify(here.context, { ...request, sample: 100 })).toMatchObject(half);
    // Half of the objects and one more cannot all be good ones.
    const { files, ok, problems } = await verify(here.context, { ...request, sample: 51 });
    expect({ files, ok }).toEqual({ files: 21, ok: false });
    expect(problems[0]).toMatch(/^public\.t\d*[02468]: .*objects\//);
  });

  it('samples are drawn anew each time, so that what one has missed another finds', async () => {
    await damage('local', 7);
    const seen = new Set<boolean>();
    while (seen.size < 2) seen.add((await verify(here.context, { target: 'app', sample: 25 })).ok);
    expect(await verify(here.context, { target: 'app' })).toMatchObject({
      ok: false,
      files: TABLES,
      problems: [expect.stringMatching(/^public\.t7: /)],
    });
  });
});
