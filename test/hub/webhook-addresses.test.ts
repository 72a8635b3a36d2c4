import { randomBytes } from 'node:crypto';
import { BlockList, type LookupFunction } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { sendNotification } from '../../hub/notifications/send.ts';
import { guardedLookup } from '../../hub/objects/reach.ts';
import { startHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const SECRET = 'a-secret-of-the-webhook';

const PRIVATE = [
  ...['10.0.0.1', '127.0.0.1', '0x7f.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', '0.0.0.0', '224.0.0.1'],
  ...[
    'localhost',
    'hooks.localhost',
    '[::1]',
    '[::]',
    '[fd00::1]',
    '[::ffff:10.0.0.1]',
    '[64:ff9b::a00:1]',
    '[2002:a00:1::]',
  ],
];

function allowed(...networks: [string, number][]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of networks) list.addSubnet(address, bits, 'ipv4');
  return list;
}

test('a name that leads to a private address is refused at the connection, unless the operator allows it', async () => {
  const leadsTo =
    (address: string): LookupFunction =>
    (_host, _options, callback) =>
      callback(null, address, 4);
  const found = (address: string, list?: BlockList) =>
    new Promise((done) => {
      const look = guardedLookup({ resolve: leadsTo(address), ...(list && { allowed: list }) });
      look('hooks.example', {}, (error, given) => done(error?.message ?? given));
    });
  const refused = 'hooks.example leads to a private address';
  expect(await found('10.1.2.3', allowed())).toBe(refused);
  expect(await found('10.1.2.3', allowed(['10.1.0.0', 16]))).toBe('10.1.2.3');
  expect(await found('10.2.2.3', allowed(['10.1.0.0', 16]))).toBe(refused);
  expect(await found('93.184.216.34', allowed())).toBe('93.184.216.34');
  expect(await found('10.1.2.3')).toBe('10.1.2.3');
});

test('a private address is refused when a notification is sent', async () => {
  const delivery = { id: '1', body: {}, now: new Date(), allowed: allowed() };
  const webhook = { url: 'https://10.0.0.1/', secret: SECRET };
  await expect(sendNotification(webhook, delivery)).rejects.toThrow('private address');
});

describeWithPostgres('webhooks and names of targets', () => {
  const hub = suiteResource(() => startHub({ webhookNetworks: allowed(['10.7.0.0', 16]) }));
  let member: string;

  beforeAll(async () => {
    member = (await hub.person('mona', ['developers'])).token;
  });

  const put = (token: string, body: object, { name = newName(), revision = 0 } = {}) =>
    hub.send('PUT', `/targets/${name}`, {
      token,
      body: { settings: {}, ...body },
      headers: revision === 0 ? { 'if-none-match': '*' } : { 'if-match': `"${revision}"` },
    });
  const newName = (): string => `target-${randomBytes(4).toString('hex')}`;
  const webhook = (host: string) => ({ webhook: { url: `https://${host}/hook`, secret: SECRET } });

  test.each(PRIVATE)('a member may not name the webhook https://%s, an owner may', async (host) => {
    expect(await put(member, webhook(host))).toMatchObject({ status: 422, body: { code: 'cloud_refused' } });
    expect((await put(hub.ownerToken, webhook(host))).status).toBe(201);
  });

  test('a member may name public addresses, and private ones that the operator allows', async () => {
    for (const host of ['hooks.example.com', '93.184.216.34', '10.7.1.1']) {
      expect((await put(member, webhook(host))).status).toBe(201);
    }
  });

  test('the webhook of an owner stays while a member leaves it as it is, and no longer', async () => {
    const name = newName();
    await put(hub.ownerToken, webhook('10.0.0.1'), { name });
    const isPrivate = async () => {
      const rows = await hub.database.db.selectFrom('targets').selectAll().where('name', '=', name).execute();
      return rows[0]?.webhook_private;
    };
    expect((await put(member, { webhook: { url: 'https://10.0.0.1' } }, { name, revision: 1 })).status).toBe(200);
    expect(await isPrivate()).toBe(true);
    expect((await put(member, webhook('10.0.0.1'), { name, revision: 2 })).status).toBe(422);
    expect((await put(member, webhook('hooks.example.com'), { name, revision: 2 })).status).toBe(200);
    expect(await isPrivate()).toBe(false);
  });

  test('a name that begins with a hyphen is none of a target', async () => {
    expect((await put(hub.ownerToken, {}, { name: '-x' })).status).toBe(404);
    const body = { targets: ['--all'] };
    expect((await hub.send('POST', '/builds/claim', { token: hub.ownerToken, body })).status).toBe(422);
  });
});
