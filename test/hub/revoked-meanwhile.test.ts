import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { putStorageProfile, putTarget, startHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const PROFILE = { provider: 's3', bucket: 'b', access_key: 'key', secret_key: 'secret' };

describeWithPostgres('a token that is revoked during a request', () => {
  const hub = suiteResource(() => startHub());

  beforeAll(async () => {
    await putStorageProfile(hub, 'team', PROFILE);
  });

  const newName = (): string => `orders-${randomBytes(4).toString('hex')}`;

  const newTarget = async () => {
    const name = newName();
    const id = await putTarget(hub, name, { settings: { storage_profile: 'team' } });
    return { name, id };
  };

  const revoke = async ({ id }: { id: string }): Promise<void> => {
    expect((await hub.send('DELETE', `/tokens/${id}`, { token: hub.ownerToken })).status).toBe(204);
  };

  /** The hub has accepted the token of a request, and its last query was this one. */
  const looked = (query: string): Promise<void> =>
    eventually(async () => {
      const { rows } = await sql`SELECT 1 FROM pg_stat_activity
        WHERE query_start > ${since} AND query LIKE ${query} AND pid <> pg_backend_pid()`.execute(hub.database.db);
      return rows.length > 0;
    });
  let since = new Date();

  const remember = async (): Promise<void> => {
    const { rows } = await sql<{ now: Date }>`SELECT clock_timestamp() AS now`.execute(hub.database.db);
    since = rows[0]?.now ?? since;
  };

  /** Sends the first half of a body, and the rest after `meanwhile`. */
  async function sendSlowly(path: string, token: string, meanwhile: () => Promise<void>): Promise<number> {
    await remember();
    const body = JSON.stringify({ settings: { storage_profile: 'team' } });
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': body.length,
      'if-none-match': '*',
    };
    const sent = request(`${hub.url}/api/v3${path}`, { method: 'PUT', headers });
    const status = new Promise<number>((resolve, reject) => {
      sent.on('response', (response) => resolve(response.resume().statusCode ?? 0));
      sent.on('error', reject);
    });
    sent.write(body.slice(0, 10));
    await looked('%"tokens"."hash" =%');
    await meanwhile();
    sent.end(body.slice(10));
    return status;
  }

  test('changes nothing when the rest of its body arrives', async () => {
    const name = newName();
    const { token, userId } = await hub.person(`mia-${name}`, ['developers']);
    const disable = async (): Promise<void> => {
      const { status } = await hub.send('PATCH', `/users/${userId}`, {
        token: hub.ownerToken,
        body: { disabled: true },
      });
      expect(status).toBe(200);
    };
    expect(await sendSlowly(`/targets/${name}`, token, disable)).toBe(401);
    expect((await hub.send('GET', `/targets/${name}`, { token: hub.ownerToken })).status).toBe(404);
  });

  test('is given no build that it waits for', async () => {
    const target = await newTarget();
    const service = await hub.service('waiting', 'builder', [target.id]);
    await remember();
    const claimed = hub.send('POST', '/builds/claim', {
      token: service.token,
      body: { targets: [target.name], wait: 10 },
    });
    await looked("%singleton_key = ANY(%state < 'active'%LIMIT%");
    await revoke(service);
    await hub.send('POST', `/targets/${target.name}/builds`, { token: hub.ownerToken, body: {} });
    expect((await claimed).status).toBe(401);
  });
});
