import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startQueue } from '../../hub/database/builds/queue.ts';
import { notifyLate } from '../../hub/jobs/notifications.ts';
import { createLog } from '../../hub/log.ts';
import { sendNotification } from '../../hub/notifications/send.ts';
import { startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';

const FAST = { supervise: 1, cron: 1, notifyAgain: 1 };
const SECRET = 'a-secret-of-the-webhook';

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Answers with these statuses in turn, then with 200. */
async function startReceiver() {
  const received: Received[] = [];
  const statuses: number[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const text = (await buffer(incoming)).toString();
    received.push({ path: incoming.url ?? '', headers: incoming.headers, text });
    const status = statuses.shift() ?? 200;
    outgoing.writeHead(status, status === 302 ? { location: '/redirected' } : {}).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, received, statuses, stop: () => server.close() };
}

/** As docs/hub.md shows it. */
function isSigned({ headers, text }: Received, secret: string): boolean {
  const [, time = '', given = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['tool-signature'])) ?? [];
  const expected = createHmac('sha256', secret).update(`${time}.${text}`).digest();
  return timingSafeEqual(Buffer.from(given, 'hex'), expected) && Math.abs(Date.now() / 1000 - Number(time)) < 300;
}

describeWithPostgres('notifications of the hub', () => {
  let hub: TestHub;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;

  beforeAll(async () => {
    receiver = await startReceiver();
    const webhook = { url: `${receiver.url}/of-the-hub`, secret: 'another-secret-of-the-hub' };
    hub = await startHub({ queueTimes: FAST, webhook });
  });

  afterAll(async () => {
    await hub.stop();
    receiver.stop();
  });

  const put = (name: string, body: object, token = hub.ownerToken) =>
    hub.send('PUT', `/targets/${name}`, { token, body: { settings: {}, ...body }, headers: { 'if-none-match': '*' } });
  const webhookAt = (path: string) => ({ url: `${receiver.url}${path}`, secret: SECRET });
  const at = (path: string) => receiver.received.filter((one) => one.path === path);

  async function failBuild(name: string, message: string): Promise<void> {
    const { token } = await hub.person('mona', ['developers']);
    await hub.send('POST', `/targets/${name}/builds`, { token, body: {} });
    const { body } = await hub.send('POST', '/builds/claim', { token, body: { targets: [name] } });
    const { id, lease } = body.build;
    const failed = { lease, outcome: 'failed', code: 'dump_failed', message };
    expect((await hub.send('POST', `/builds/${id}/finish`, { token, body: failed })).status).toBe(204);
  }

  test('a failed build is notified, signed, again after a redirect, and its secrets are not shown', async () => {
    const path = `/hooks/T0/${randomBytes(8).toString('hex')}`;
    const created = await put('orders', { webhook: webhookAt(path) });
    expect(created.body.webhook).toEqual({ url: receiver.url });
    receiver.statuses.push(302);
    await failBuild('orders', 'No space on <!channel> & elsewhere');
    await eventually(async () => at(path).length >= 2, { deadline: 20_000 });
    expect(at('/redirected')).toEqual([]);
    const [first, last] = at(path) as [Received, Received];
    expect(JSON.parse(last.text)).toEqual({
      text: 'Build of target "orders" by mona failed: No space on &lt;!channel&gt; &amp; elsewhere (dump_failed)',
      event: 'build.failed',
      target: 'orders',
      agent: 'mona',
      code: 'dump_failed',
      message: 'No space on <!channel> & elsewhere',
      hub: 'https://hub.example.com',
      at: expect.any(String),
    });
    for (const one of at(path)) expect(isSigned(one, SECRET)).toBe(true);
    expect(isSigned({ ...last, text: last.text.replace('orders', 'others') }, SECRET)).toBe(false);
    expect(isSigned(last, 'another-secret-of-the-hub')).toBe(false);
    expect(last.headers['tool-delivery']).toBe(first.headers['tool-delivery']);
    const shown = await hub.send('GET', '/targets/orders', { token: hub.ownerToken });
    const urls = await hub.send('GET', '/targets/orders/secrets', { token: hub.ownerToken });
    const database = await hub.postgres.dump('postgres');
    for (const text of [shown.text, urls.text, database, hub.lines.join('')]) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(path);
    }
  });

  test('a target that becomes late is notified once by all instances, and again after it was on time', async () => {
    const log = createLog({ write: () => {}, clock: () => new Date() });
    await using queue = await startQueue(hub.settings.databaseUrl, { log, times: FAST });
    const { db } = hub.database;
    let now = new Date();
    const instance = { db, queue, settings: hub.settings, log, clock: () => now };
    const look = () => Promise.all([notifyLate(instance), notifyLate(instance), notifyLate(instance)]);
    await put('late', { expected_every: '2h' });
    await put('unproved', { restore_expected_every: '2h' });
    await put('without', {});
    await look();
    now = new Date(Date.now() + 3 * 3_600_000);
    await look();
    await look();
    const all = () => at('/of-the-hub').map(({ text }) => JSON.parse(text));
    const told = () => all().filter(({ target }) => target === 'late');
    await eventually(async () => told().length > 0, { deadline: 15_000 });
    await db.updateTable('targets').set({ expected_every: '9w' }).where('name', '=', 'late').execute();
    await look();
    await db.updateTable('targets').set({ expected_every: '1h' }).where('name', '=', 'late').execute();
    await look();
    await eventually(async () => told().length > 1, { deadline: 15_000 });
    expect(told()).toMatchObject([
      {
        text: 'Target "late" is late: it has no snapshot, and one is expected every 2 hours',
        event: 'target.late',
        target: 'late',
        expected_every: '2h',
        newest_snapshot_at: null,
      },
      { event: 'target.late', expected_every: '1h' },
    ]);
    await eventually(async () => all().length > 2, { deadline: 15_000 });
    expect(all().filter(({ target }) => target !== 'late')).toMatchObject([
      {
        text: 'Target "unproved" is late: no restore was proved, and one is expected every 2 hours',
        ...{ event: 'target.restore_late', target: 'unproved', restore_expected_every: '2h', last_restored_at: null },
      },
    ]);
    expect(isSigned(at('/of-the-hub')[0] as Received, 'another-secret-of-the-hub')).toBe(true);
  });

  test('a webhook needs a secret and a safe address', async () => {
    const refused = async (webhook: object, token?: string) => {
      const { status, body } = await put(`t-${randomBytes(4).toString('hex')}`, { webhook }, token);
      return { status, pointer: body.errors?.[0]?.pointer };
    };
    const secret = SECRET;
    const url = { status: 422, pointer: '/webhook/url' };
    expect(await refused({ url: 'https://example.com/a' })).toEqual({ status: 422, pointer: '/webhook/secret' });
    expect(await refused({ url: 'https://example.com/a', secret: 'short' })).toMatchObject({ status: 422 });
    expect(await refused({ url: 'http://example.com/a', secret })).toEqual(url);
    expect(await refused({ url: 'ftp://example.com/a', secret })).toEqual(url);
    expect(await refused({ url: 'https://user@example.com/a', secret })).toEqual(url);
    expect(await refused({ url: 'https://169.254.169.254/a', secret })).toEqual(url);
    expect(await refused({ url: 'https://[::ffff:169.254.169.254]/a', secret })).toEqual(url);
    const { token } = await hub.person('mike', ['developers']);
    expect(await refused(webhookAt('/internal'), token)).toEqual(url);
    expect((await refused({ url: 'https://example.com/a', secret }, token)).status).toBe(201);
  });

  test('a change that repeats what is shown keeps the URL and the secret', async () => {
    const path = `/kept/${randomBytes(8).toString('hex')}`;
    await put('kept', { webhook: webhookAt(path) });
    const headers = { 'if-match': '"1"' };
    const body = { settings: {}, webhook: { url: receiver.url } };
    expect((await hub.send('PUT', '/targets/kept', { token: hub.ownerToken, body, headers })).status).toBe(200);
    await failBuild('kept', 'No space');
    await eventually(async () => at(path).length === 1, { deadline: 15_000 });
    expect(isSigned(at(path)[0] as Received, SECRET)).toBe(true);
  });

  test('an answer that does not come is given up', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const delivery = { id: 'a', body: {}, now: new Date(), timeoutMs: 500 };
    await expect(sendNotification({ url, secret: SECRET }, delivery)).rejects.toThrow(/timeout|aborted/i);
    silent.closeAllConnections();
    silent.close();
    receiver.statuses.push(500);
    await expect(sendNotification(webhookAt('/failing'), delivery)).rejects.toThrow('500');
    const linkLocal = { url: 'http://169.254.169.254/latest', secret: SECRET };
    await expect(sendNotification(linkLocal, delivery)).rejects.toThrow('link-local');
  });
});
