import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutBucketPolicyCommand } from '@aws-sdk/client-s3';
import { afterEach, expect, it, vi } from 'vitest';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { push } from '../../../src/operations/snapshots/transfer/push.ts';
import type { BucketProfile } from '../../../src/repository/s3/connection.ts';
import { createS3Store } from '../../../src/repository/s3/store.ts';
import type { Store } from '../../../src/repository/store/store.ts';
import { startFaultProxy } from '../../helpers/storage/fault-proxy.ts';
import { machine } from '../../helpers/storage/machine.ts';
import { describeWithS3, startS3 } from '../../helpers/storage/s3-server.ts';
import { storeSnapshot, storeTables } from '../../helpers/storage/stored-snapshot.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const signal = new AbortController().signal;
const open = (profile: BucketProfile): Promise<Store> => createS3Store({ name: 'team', profile, signal });
const named = { target: 'app', id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z' };
const snapshot = { ...named, content: 'one\n' };

describeWithS3('answers of a bucket', () => {
  const server = suiteResource(() => startS3());
  const proxy = suiteResource(() => startFaultProxy(server.endpoint));

  afterEach(() => {
    proxy.fault = () => null;
    vi.unstubAllEnvs();
  });

  it('a missing bucket', async () => {
    const profile = { ...(await server.bucket()), bucket: 'nowhere' };
    const error = { code: 'bucket_missing', exit: 4, message: expect.stringContaining('s3://nowhere') };
    const store = await open(profile);
    await expect(store.list('snapshots')).rejects.toMatchObject(error);
    await expect(store.write('locks/one', '1')).rejects.toMatchObject(error);
  });

  it.each([
    ['an unknown access key', { access_key: 'nobody' }],
    ['a wrong secret key', { secret_key: 'hunter2hunter2' }],
  ])('%s; the keys are not told', async (_what, change) => {
    const store = await open({ ...(await server.bucket()), ...change });
    const error = await store.list('snapshots').catch((thrown) => thrown);
    expect(error).toMatchObject({
      code: 'storage_denied',
      exit: 4,
      hint: 'Check storage_profiles.team: cli_profile, or access_key and secret_key.',
    });
    expect(JSON.stringify([error.message, error.hint, error.details])).not.toMatch(/hunter2|testsecret/);
  });

  it('keys with read access only can pull, and a push names the missing right', async () => {
    const profile = await server.bucket();
    const reader = await server.user('reader');
    await server.client.send(
      new PutBucketPolicyCommand({
        Bucket: profile.bucket,
        Policy: JSON.stringify({
          Version: '2012-10-17',
          Statement: [
            {
              Effect: 'Allow',
              Principal: { AWS: ['arn:aws:iam:::user/reader'] },
              Action: ['s3:ListBucket', 's3:GetObject'],
              Resource: [`arn:aws:s3:::${profile.bucket}`, `arn:aws:s3:::${profile.bucket}/*`],
            },
          ],
        }),
      }),
    );
    await using here = await machine({ profile: { ...profile, ...reader } });
    await storeSnapshot(here.directory, snapshot);
    expect((await listSnapshots(here.context, 'app')).snapshots).toHaveLength(1);
    await expect(push(here.context, { target: 'app' })).rejects.toMatchObject({
      code: 'storage_forbidden',
      exit: 4,
      message: expect.stringContaining(`may not write to s3://${profile.bucket}`),
    });
  });

  it('a quota that is used up: nothing is half visible', async () => {
    await using here = await machine({ profile: await server.bucket({ objects: 2 }) });
    await storeTables(here.directory, { ...named, contents: { one: '1\n', two: '2\n', three: '3\n', four: '4\n' } });
    await expect(push(here.context, { target: 'app' })).rejects.toMatchObject({
      code: 'storage_full',
      exit: 4,
      hint: expect.stringContaining('tool prune'),
    });
    await using there = await machine({ profile: here.profile });
    expect((await listSnapshots(there.context, 'app')).snapshots).toEqual([]);
  });

  it.each([
    ['a clock that is wrong', 403, 'RequestTimeTooSkewed is clock_skew'],
    ['another region', 301, 'PermanentRedirect is region_wrong'],
    ['a disk that is full', 507, 'XMinioStorageFull is storage_full'],
    ['a token that has run out', 400, 'ExpiredToken is storage_denied'],
  ])('%s', async (_what, status, codes) => {
    const [code, expected] = codes.split(' is ') as [string, string];
    const store = await open({ ...(await server.bucket()), endpoint: proxy.endpoint });
    proxy.fault = () => ({ kind: 'status', status, code });
    await expect(store.list('snapshots')).rejects.toMatchObject({ code: expected, exit: 4 });
  });

  it("a wrong clock is corrected by the service's time", async () => {
    const store = await open(await server.bucket());
    vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ['Date'] });
    try {
      expect(await store.list('snapshots')).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('a profile of the command-line client: its keys, its region, and its endpoint before any other', async () => {
    const { access_key, secret_key, ...profile } = await server.bucket();
    const folder = mkdtempSync(join(tmpdir(), 'tool-cli-'));
    const keys = `[work]\naws_access_key_id = ${access_key}\naws_secret_access_key = ${secret_key}\n`;
    writeFileSync(join(folder, 'credentials'), keys);
    writeFileSync(join(folder, 'config'), `[profile work]\nregion = eu-north-1\nendpoint_url = ${server.endpoint}\n`);
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'credentials'));
    vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'config'));
    const store = await open({ ...profile, endpoint: 'http://127.0.0.1:1', access_key: 'no', cli_profile: 'work' });
    expect(await store.list('snapshots')).toEqual([]);
    await expect(open({ ...profile, cli_profile: 'wrok' })).rejects.toMatchObject({
      code: 'storage_credentials_missing',
      exit: 4,
      message: expect.stringContaining('"wrok"'),
    });
  });

  it('a profile without keys uses those of the environment', async () => {
    const { access_key = '', secret_key = '', ...profile } = await server.bucket();
    vi.stubEnv('AWS_ACCESS_KEY_ID', access_key);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', secret_key);
    expect(await (await open(profile)).list('snapshots')).toEqual([]);
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nonexistent');
    vi.stubEnv('AWS_CONFIG_FILE', '/nonexistent');
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    await expect((await open(profile)).list('snapshots')).rejects.toMatchObject({
      code: 'storage_credentials_missing',
      exit: 4,
    });
  });

  it.each([
    ['a port where nobody listens', 'http://127.0.0.1:1'],
    ['a name that nobody knows', 'http://bucket.invalid'],
  ])('%s', async (_what, endpoint) => {
    const store = await open({ ...(await server.bucket()), endpoint });
    await expect(store.list('snapshots')).rejects.toMatchObject({ code: 'storage_unreachable', exit: 4 });
  });

  it('a service that is no storage at all', async () => {
    const other = createServer((_request, response) => response.end('<html>Hello</html>'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const store = await open({ ...(await server.bucket()), endpoint });
    await expect(store.list('snapshots')).rejects.toMatchObject({ exit: 4 });
    other.close();
  }, 60_000);

  it('local snapshots are listed without a network, with a warning', async () => {
    await using here = await machine({ profile: { ...(await server.bucket()), endpoint: 'http://127.0.0.1:1' } });
    await storeSnapshot(here.directory, snapshot);
    const { snapshots } = await listSnapshots(here.context, 'app');
    expect(snapshots).toMatchObject([{ id: 'aaaa0000', where: ['local'] }]);
    expect(here.events).toMatchObject([{ event: 'warning', code: 'shelf_unreachable' }]);
    await expect(listSnapshots(here.context, 'shared')).rejects.toMatchObject({ code: 'storage_unreachable' });
  });
});
