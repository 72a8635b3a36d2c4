import { request } from 'node:http';
import { BlockList } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createRequestLimiter, LIMITS, signInOrigin } from '../../hub/http/rate-limits.ts';
import { createCloudClient } from '../../src/cloud/client.ts';
import { startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres } from '../helpers/postgres/postgres-server.ts';

test('a token may send 200 requests at once, and 50 a second from then on', () => {
  let now = 0;
  const limiter = createRequestLimiter(LIMITS.requests, () => now);
  const allowed = (count: number): number =>
    Array.from({ length: count }, () => limiter.take('a')).filter((s) => s === 0).length;
  expect(allowed(300)).toBe(200);
  expect(limiter.take('a')).toBeCloseTo(1 / 50);
  expect(limiter.take('b')).toBe(0);
  now += 1000;
  expect(allowed(300)).toBe(50);
  now += 60_000;
  expect(allowed(300)).toBe(200);
});

test('a token that has sent a large body waits until its cost is over', () => {
  let now = 0;
  const limiter = createRequestLimiter(LIMITS.requests, () => now);
  expect(limiter.take('a', 1200)).toBe(0);
  expect(limiter.take('a')).toBeCloseTo(1001 / 50);
  expect(limiter.take('b')).toBe(0);
  now += 20_100;
  expect(limiter.take('a')).toBe(0);
});

test('the limiter forgets tokens that are idle, and of too many at once the oldest', () => {
  let now = 0;
  const limiter = createRequestLimiter({ perSecond: 1, burst: 2 }, () => now);
  for (let index = 0; index < 10_000; index += 1) {
    limiter.take(`${index}`);
    limiter.take(`${index}`);
  }
  expect(limiter.take('9999')).toBeGreaterThan(0);
  limiter.take('one more');
  // The first was forgotten for it: full again.
  expect(limiter.take('0')).toBe(0);
  now += 10_000;
  expect(limiter.take('9999')).toBe(0);
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('refused sign-ins of %s are counted for %s', (address, origin) => {
  expect(signInOrigin(address)).toBe(origin);
});

describeWithPostgres('limits of the hub', () => {
  let hub: TestHub;
  let other: TestHub;

  beforeAll(async () => {
    const trustedProxies = new BlockList();
    trustedProxies.addAddress('127.0.0.1');
    trustedProxies.addSubnet('10.0.0.0', 8);
    const settings = { trustedProxies, limits: LIMITS };
    hub = await startHub(settings);
    other = await startHub({ ...settings, keys: hub.settings.keys }, hub.postgres);
  });

  afterAll(async () => {
    await other.stop();
    await hub.stop();
  });

  const signIn = (from: string, instance = hub) =>
    instance.send('POST', '/sessions', { body: { id_token: 'none.of.ours' }, headers: { 'x-forwarded-for': from } });

  test('the eleventh refused sign-in of a minute from one address gets 429, from whichever instance', async () => {
    const answers = await Promise.all(
      Array.from({ length: 14 }, (_, index) => signIn('192.0.2.1', index % 2 ? hub : other)),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(4).fill(429)]);
    const { status, headers, body } = await signIn('192.0.2.1');
    expect({ status, code: body.code, type: body.type }).toEqual({
      status: 429,
      code: 'cloud_busy',
      type: 'urn:tool:cloud_busy',
    });
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(30);
    expect((await signIn('192.0.2.2')).status).toBe(401);
    const minuteAgo = new Date(Date.now() - 61_000);
    await hub.database.db.updateTable('refused_sign_ins').set({ since: minuteAgo }).execute();
    expect((await signIn('192.0.2.1')).status).toBe(401);
  });

  test('a large manifest counts as many requests of the token', async () => {
    const { token } = await hub.person('mia', ['owners']);
    const status = await new Promise<number>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': 64 * 1024 * 1024,
      };
      const sent = request(`${hub.url}/api/v3/targets/none/snapshots/0a0b0c0d`, { method: 'PUT', headers });
      sent.on('response', (response) => {
        resolve(response.statusCode ?? 0);
        sent.destroy();
      });
      sent.on('error', reject);
      sent.flushHeaders();
    });
    expect(status).toBe(404);
    const { status: next, headers } = await hub.send('GET', '/me', { token });
    expect(next).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(2);
    expect((await hub.send('GET', '/me', { token: (await hub.person('rita', [])).token })).status).toBe(200);
  });

  test('a claim, which may wait, counts as ten requests of the token', async () => {
    const limits = { ...LIMITS, requests: { perSecond: 0.01, burst: 10 } };
    const limited = await startHub({ keys: hub.settings.keys, limits }, hub.postgres);
    onTestFinished(() => limited.stop());
    const { token } = await hub.person('carl', ['developers']);
    const body = { targets: ['none'], wait: 0 };
    expect((await limited.send('POST', '/builds/claim', { token, body })).status).toBe(200);
    expect((await limited.send('GET', '/me', { token })).status).toBe(429);
    const other = await hub.person('rita', []);
    for (let count = 0; count < 10; count += 1) {
      expect((await limited.send('GET', '/me', { token: other.token })).status).toBe(200);
    }
  });

  test('an address is believed from a trusted proxy only, and is the last one that no trusted proxy has', async () => {
    const seen = async (forwarded: string) => {
      await signIn(forwarded);
      const line = hub.lines.findLast((one) => one.includes('"createSession"')) ?? '{}';
      return JSON.parse(line).address;
    };
    expect(await seen('198.51.100.1, 192.0.2.9')).toBe('192.0.2.9');
    expect(await seen('192.0.2.9, 10.1.2.3')).toBe('192.0.2.9');
    expect(await seen('nonsense, 10.1.2.3')).toBe('10.1.2.3');
    expect(await seen('::ffff:192.0.2.8')).toBe('192.0.2.8');
    expect(await seen('<script>')).toBe('127.0.0.1');
    const direct = await startHub({ keys: hub.settings.keys, limits: LIMITS }, hub.postgres);
    await direct.send('GET', '/', { headers: { 'x-forwarded-for': '192.0.2.9' } });
    expect(JSON.parse(direct.lines.at(-1) ?? '').address).toBe('127.0.0.1');
    await direct.stop();
  });

  test('a token with too many requests gets 429, and the client waits as long as it is told', {
    timeout: 20_000,
  }, async () => {
    const { token } = await hub.person('rita', []);
    const answers = await Promise.all(Array.from({ length: 600 }, () => hub.send('GET', '/me', { token })));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(200);
    expect((await hub.send('GET', '/me', { token: hub.ownerToken })).status).toBe(200);
    const { signal } = new AbortController();
    const client = createCloudClient({ endpoint: `${hub.url}/api/v3`, token, version: '0.1.0', signal });
    expect((await client.call('me')).body?.name).toBe('rita');
  });
});
