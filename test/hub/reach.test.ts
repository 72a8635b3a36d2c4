import { once } from 'node:events';
import { Agent, createServer, get, type RequestListener } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { findObject } from '../../hub/objects/bucket-calls.ts';
import { createBuckets } from '../../hub/objects/buckets.ts';
import { guardedLookup } from '../../hub/objects/reach.ts';
import { putStorageProfile, putTarget, startHub } from '../helpers/hub/hub.ts';
import { objectOf } from '../helpers/hub/hub-target.ts';
import { describeWithPostgres } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

async function serverWith(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a name that leads to a link-local address later is refused at the connection (DNS rebinding)', async () => {
  const { port } = new URL(await serverWith((_request, response) => response.end('bucket')));
  const answers = [
    ...['127.0.0.1', '169.254.169.254', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe'],
    ...['fe80::1', 'fd00:ec2::254', '127.0.0.1'],
  ];
  const resolve: LookupFunction = (_host, { all }, callback) => {
    const address = answers.shift() ?? '';
    const family = address.includes(':') ? 6 : 4;
    if (all)
      callback(null, [
        { address: '127.0.0.1', family: 4 },
        { address, family },
      ]);
    else callback(null, address, family);
  };
  const agent = new Agent({ lookup: guardedLookup({ resolve }) });
  const status = () =>
    new Promise((done) => {
      get({ host: 'bucket.example', port, agent }, (response) => done(response.resume().statusCode)).on(
        'error',
        ({ message }) => done(message),
      );
    });
  const refused = 'bucket.example leads to a link-local address';
  const found: unknown[] = [];
  while (answers.length > 0) found.push(await status());
  expect(found).toEqual([200, ...Array(5).fill(refused), 200]);
});

describeWithPostgres('addresses of buckets', () => {
  const hub = suiteResource(startHub);

  const keys = { access_key: 'key', secret_key: 'secret' };

  test.each([
    'http://169.254.169.254',
    'http://0xa9fea9fe',
    'http://2852039166',
    'http://[fe80::1]',
    'http://[::ffff:169.254.169.254]',
    'http://[::169.254.169.254]',
    'http://[64:ff9b::169.254.169.254]',
    'http://[64:ff9b::6464:64c8]',
    'http://[2002:a9fe:a9fe::]',
    'http://[fd20:ce::254]',
    'http://192.0.0.192',
    'http://100.100.100.200',
  ])('a storage profile with the endpoint %s is refused when it is written, and at each use', async (endpoint) => {
    const name = `profile-${encodeURIComponent(endpoint).replaceAll('%', '-')}`;
    const settings = { provider: 'minio', bucket: 'b', endpoint, ...keys };
    const put = { token: hub.ownerToken, body: { settings }, headers: { 'if-none-match': '*' } };
    const { status, body } = await hub.send('PUT', `/storage_profiles/${name}`, put);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'cloud_refused' });
    await putStorageProfile(hub, name, { ...settings, endpoint: 'http://127.0.0.1:1' });
    await putTarget(hub, name, { settings: { storage_profile: name } });
    const { db } = hub.database;
    const written = JSON.stringify({ provider: 'minio', bucket: 'b', endpoint });
    await db.updateTable('storage_profiles').set({ settings: written }).where('name', '=', name).execute();
    const objects = [objectOf()].map(({ content: _, ...object }) => object);
    const token = hub.ownerToken;
    const used = await hub.send('POST', `/targets/${name}/uploads`, { token, body: { sanitized: false, objects } });
    expect(used.body.detail).toBe('The endpoint is a link-local address');
    const checked = await hub.send('POST', `/storage_profiles/${name}/check`, { token });
    expect(checked.body).toEqual({ ok: false, error: 'The endpoint is a link-local address' });
  });

  test('a name that leads to a link-local address after the profile was written is refused at each use', async () => {
    const endpoint = 'http://bucket.example:80';
    await putStorageProfile(hub, 'rebound', { provider: 'minio', bucket: 'b', endpoint, ...keys });
    const id = await putTarget(hub, 'rebound', { settings: { storage_profile: 'rebound' } });
    const { db } = hub.database;
    const profiles = db.selectFrom('storage_profiles').select('id').where('name', '=', 'rebound');
    const { id: profileId } = await profiles.executeTakeFirstOrThrow();
    const resolve: LookupFunction = (_host, { all }, callback) => {
      if (all) callback(null, [{ address: '169.254.169.254', family: 4 }]);
      else callback(null, '169.254.169.254', 4);
    };
    const buckets = createBuckets(db, hub.settings.keys, resolve);
    const refused = /leads to a link-local address/;
    await expect(findObject(await buckets.open(profileId, id), 'objects/x')).rejects.toThrow(refused);
    const store = await buckets.store(profileId, id, AbortSignal.timeout(10_000));
    await expect(store.list('objects')).rejects.toThrow(refused);
  });

  test('a redirect of a bucket is not followed', async () => {
    let followed = 0;
    const inside = await serverWith((_request, response) => {
      followed += 1;
      response.end('secret');
    });
    for (const status of [301, 302, 307, 308]) {
      const endpoint = await serverWith((request, response) => {
        response.writeHead(status, { location: `${inside}${request.url}` }).end();
      });
      await putStorageProfile(hub, `redirect-${status}`, { provider: 'minio', bucket: 'b', endpoint, ...keys });
      const path = `/storage_profiles/redirect-${status}/check`;
      const { body } = await hub.send('POST', path, { token: hub.ownerToken });
      expect(body).toMatchObject({ ok: false });
    }
    expect(followed).toBe(0);
  }, 60_000);
});
