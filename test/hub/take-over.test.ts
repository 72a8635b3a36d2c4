import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { putStorageProfile, putTarget, type Received, startHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const SOURCE = 'postgres://app:very-secret@db.example.com/orders';
const SHOWN = 'postgres://app@db.example.com/orders';
const BUCKET = { provider: 'minio', bucket: 'b', endpoint: 'http://127.0.0.1:1', access_key: 'k', secret_key: 's' };
const CREATE = { 'if-none-match': '*' };
const FIRST = { 'if-match': '"1"' };

/** Status and text without what differs between two requests. */
function answerOf({ status, text }: Received, name: string): string {
  const plain = text.replaceAll(name, 'NAME').replace(/"request_id":"[^"]+"/, '');
  return `${status} ${plain}`;
}

describeWithPostgres('a member and the target of another team', () => {
  const hub = suiteResource(() => startHub());
  let member: string;

  beforeAll(async () => {
    await putStorageProfile(hub, 'team', BUCKET);
    member = (await hub.person('mallory', ['developers'])).token;
  });

  async function makeTarget(): Promise<string> {
    const name = `orders-${randomBytes(4).toString('hex')}`;
    const settings = { storage_profile: 'team', snapshot: { src_url: SOURCE } };
    await putTarget(hub, name, { settings, builder_groups: ['other team'], keep: { last: 100 } });
    return name;
  }

  const put = (name: string, body: object, headers: Record<string, string> = FIRST) =>
    hub.send('PUT', `/targets/${name}`, { token: member, body, headers });

  test.each([
    ['takes it over', { settings: {} }],
    ['keeps its sealed source password', { settings: { snapshot: { src_url: SHOWN } } }],
    ['has all but one snapshot removed', { settings: {}, keep: { last: 1 } }],
    ['sends the next build to another host', { settings: { snapshot: { src_url: 'postgres://evil.example.com/x' } } }],
  ])('is refused as for a name that does not exist when a member %s', async (_what, body) => {
    const name = await makeTarget();
    const before = await hub.send('GET', `/targets/${name}`, { token: hub.ownerToken });
    const answer = await put(name, body);
    expect(answerOf(answer, name)).toEqual(answerOf(await put('nowhere', body), 'nowhere'));
    expect(answer.status).toBe(412);
    const after = await hub.send('GET', `/targets/${name}`, { token: hub.ownerToken });
    expect(after.body).toEqual(before.body);
    expect((await hub.send('GET', `/targets/${name}/secrets`, { token: member })).status).toBe(404);
    expect((await hub.send('DELETE', `/targets/${name}`, { token: member, headers: FIRST })).status).toBe(404);
  });

  test('a taken name and the name of a removed target are refused alike, and only after the request is valid', async () => {
    const [taken, removed] = [await makeTarget(), await makeTarget()];
    await hub.send('DELETE', `/targets/${removed}`, { token: hub.ownerToken, headers: FIRST });
    for (const [body, status] of [
      [{ settings: {} }, 403],
      [{ settings: { storage_profile: 'nowhere' } }, 422],
      [{ settings: {}, webhook: { url: 'https://hooks.example.com/1' } }, 422],
      [{ settings: {}, schedule: { cron: '0 0 30 2 *' } }, 422],
      [{ settings: {}, unknown: 1 }, 422],
    ] as const) {
      const answers = [await put(taken, body, CREATE), await put(removed, body, CREATE)];
      expect(answers.map((answer) => answer.status)).toEqual([status, status]);
      const [first, second] = answers as [Received, Received];
      expect(answerOf(first, taken)).toBe(answerOf(second, removed));
      const free = `free-${randomBytes(4).toString('hex')}`;
      const answer = await put(free, body, CREATE);
      if (status === 403) expect(answer.status).toBe(201);
      else expect(answerOf(answer, free)).toBe(answerOf(first, taken));
    }
    expect((await put(removed, { settings: {} }, FIRST)).status).toBe(412);
    const again = { token: hub.ownerToken, body: { settings: {} }, headers: CREATE };
    expect((await hub.send('PUT', `/targets/${removed}`, again)).status).toBe(201);
  });

  test('a member takes the name of a removed target that the member could change', async () => {
    const name = `mine-${randomBytes(4).toString('hex')}`;
    const own = { settings: {}, builder_groups: ['developers'] };
    expect((await put(name, own, CREATE)).status).toBe(201);
    expect((await hub.send('DELETE', `/targets/${name}`, { token: member, headers: FIRST })).status).toBe(204);
    expect((await put(name, own, CREATE)).status).toBe(201);
  });
});
