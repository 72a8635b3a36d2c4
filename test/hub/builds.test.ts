import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { HUB } from '../../hub/database/audit.ts';
import { QUEUE_SCHEMA } from '../../hub/database/database.ts';
import { publish } from '../../hub/database/snapshots/snapshots.ts';
import { migrate } from '../../hub/migrate.ts';
import { type RunningHub, serve } from '../../hub/serve.ts';
import { isCron } from '../../src/cloud/contract/cron.ts';
import { putStorageProfile, putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const PROFILE = { provider: 's3', bucket: 'b', access_key: 'key', secret_key: 'secret' };
const FAST = { supervise: 1, cron: 1, notifyAgain: 1 };
const OBJECT = 'a'.repeat(64);

test.each([
  ['30 2 * * *', true],
  ['*/15 0-6,22 1 jan-mar MON,7', true],
  ['0 0 * * 1-5/2', true],
  ['* * * * * *', false],
  ['0 2 * *', false],
  ['0  2 * * *', false],
  ['60 2 * * *', false],
  ['0 24 * * *', false],
  ['0 2 0 * *', false],
  ['0 2 * 13 *', false],
  ['0 2 * * 8', false],
  ['5-1 * * * *', false],
  ['5/2 * * * *', false],
  ['*/0 * * * *', false],
  ['H 2 * * *', false],
  ['0 2 L * *', false],
  ['@daily', false],
  ['FREQ=DAILY', false],
  ['', false],
])('%j is a schedule: %s', (text, expected) => {
  expect(isCron(text)).toBe(expected);
});

describeWithPostgres('builds of the hub', () => {
  const hub = suiteResource(() => startHub({ queueTimes: FAST }));
  const other = suiteResource(() => startHub({ keys: hub.settings.keys, queueTimes: FAST }, hub.postgres));

  beforeAll(async () => {
    await putStorageProfile(hub, 'team', PROFILE);
  });

  async function newTarget(change: object = {}) {
    const name = `orders-${randomBytes(4).toString('hex')}`;
    const id = await putTarget(hub, name, { settings: { storage_profile: 'team' }, ...change });
    return { name, id, token: (await hub.service('agent', 'builder', [id])).token };
  }

  type Target = Awaited<ReturnType<typeof newTarget>>;

  const claim = (at: TestHub, { token, name }: Pick<Target, 'token' | 'name'>, more: object = {}) =>
    at.send('POST', '/builds/claim', { token, body: { targets: [name], ...more } });
  const request = ({ token, name }: Target) => hub.send('POST', `/targets/${name}/builds`, { token, body: {} });
  const end = ({ token }: Target, { id, lease }: { id: string; lease: string }, body: object) =>
    hub.send('POST', `/builds/${id}/finish`, { token, body: { lease, ...body } });
  const beat = ({ token }: Target, { id, lease }: { id: string; lease: string }) =>
    other.send('POST', `/builds/${id}/heartbeat`, { token, body: { lease } });
  const change = async ({ name }: Target, body: object) => {
    const { revision } = (await hub.send('GET', `/targets/${name}`, { token: hub.ownerToken })).body;
    const headers = { 'if-match': `"${revision}"` };
    const whole = { settings: { storage_profile: 'team' }, ...body };
    return hub.send('PUT', `/targets/${name}`, { token: hub.ownerToken, body: whole, headers });
  };

  async function addSnapshot({ id: target_id, name }: Target): Promise<string> {
    const { db } = hub.database;
    const id = randomBytes(4).toString('hex');
    const { id: profileId } = await db.selectFrom('storage_profiles').select('id').executeTakeFirstOrThrow();
    const object = { sha256: OBJECT, stored_sha256: OBJECT, stored_bytes: 1, state: 'stored' } as const;
    await db
      .insertInto('objects')
      .values({ target_id, profile_id: profileId, ...object })
      .onConflict((on) => on.doNothing())
      .execute();
    const common = { target: name, id, created_at: new Date().toISOString(), sanitized: false, schemas: [] };
    const counts = { tables: 0, rows: 0, size_bytes: 0, stored_bytes: 0, note: null };
    await publish(db, {
      ...{ targetId: target_id, profileId, sha256s: [OBJECT], manifestKey: id, manifestSha256: OBJECT },
      headline: { ...common, engine: 'postgres', server_version: '15', ...counts },
      event: { by: HUB, action: 'snapshot.publish' },
      store: async () => {},
    });
    return id;
  }

  /** As if no heartbeat had come for a while. */
  const loseLease = (id: string) =>
    sql`UPDATE pgboss.job SET heartbeat_on = now() - interval '2 minutes' WHERE id = ${id}`.execute(hub.database.db);

  test('a requested build is given to one of two agents that wait at two instances, and ends', async () => {
    const target = await newTarget();
    const waiting = [claim(hub, target, { wait: 3 }), claim(other, target, { wait: 3 })];
    const requested = await request(target);
    expect(requested).toMatchObject({ status: 201, body: { target: target.name, state: 'queued', agent: null } });
    expect(await request(target)).toMatchObject({ status: 200, body: { id: requested.body.id } });
    const given = (await Promise.all(waiting)).flatMap(({ body }) => body.build ?? []);
    expect(given).toHaveLength(1);
    const [build] = given;
    expect(build).toMatchObject({ id: requested.body.id, target: target.name });
    expect(await request(target)).toMatchObject({ status: 200, body: { state: 'running', agent: 'agent' } });
    expect((await beat(target, build)).status).toBe(204);
    const lacking = await end(target, build, { outcome: 'done', snapshot: 'abcdef01' });
    expect(lacking.body).toMatchObject({ code: 'cloud_refused', errors: [{ pointer: '/snapshot' }] });
    const snapshot = await addSnapshot(target);
    expect((await end(target, build, { outcome: 'done', snapshot })).status).toBe(204);
    expect((await end(target, build, { outcome: 'done', snapshot })).status).toBe(204);
    expect((await end(target, build, { outcome: 'released' })).body.code).toBe('cloud_conflict');
    expect((await beat(target, build)).body.code).toBe('cloud_conflict');
    const told = await hub.send('GET', `/builds/${build.id}`, { token: target.token });
    expect(told.body).toMatchObject({ state: 'done', snapshot, error: null });
    expect((await request(target)).status).toBe(201);
  });

  test('a target that an agent does not name, may not build, or has in another pool is not given to it', async () => {
    const [mine, others, pooled] = [await newTarget(), await newTarget(), await newTarget({ pool: 'big' })];
    const both = (await hub.service('both', 'builder', [mine.id, others.id, pooled.id])).token;
    // The first of the queue.
    for (const target of [others, pooled, mine]) await request(target);
    const foreign = await claim(hub, { token: mine.token, name: others.name });
    expect(foreign.body).toEqual({ build: null, refused: [others.name] });
    expect((await claim(hub, { token: both, name: pooled.name })).body).toEqual({
      build: null,
      refused: [pooled.name],
    });
    const reader = (await hub.service('reader', 'reader', [mine.id])).token;
    expect((await claim(hub, { token: reader, name: mine.name })).body.build).toBeNull();
    const taken = await hub.send('POST', '/builds/claim', { token: both, body: { targets: [mine.name, 'nobody'] } });
    expect(taken.body).toMatchObject({ build: { target: mine.name }, refused: ['nobody'] });
    expect((await claim(hub, { token: both, name: pooled.name }, { pool: 'big' })).body.build.target).toBe(pooled.name);
    expect((await claim(hub, { token: both, name: others.name })).body.build.target).toBe(others.name);
  });

  test('agents of two instances build each target once', async () => {
    const targets = await Promise.all(Array.from({ length: 8 }, () => newTarget()));
    const { token } = await hub.service(
      'all',
      'builder',
      targets.map(({ id }) => id),
    );
    await Promise.all(targets.map(request));
    const names = targets.map(({ name }) => name);
    const taken: string[] = [];
    const agent = async (at: TestHub): Promise<void> => {
      while (true) {
        const { body } = await at.send('POST', '/builds/claim', { token, body: { targets: names } });
        if (body.build === null) return;
        taken.push(body.build.target);
      }
    };
    await Promise.all([hub, other, hub, other, hub, other].map(agent));
    // An agent that lost a race against another one sees nothing for a moment.
    await agent(hub);
    expect(taken.sort()).toEqual([...names].sort());
  });

  test('a lost build is given to another agent; the first one is told so', async () => {
    const target = await newTarget();
    await request(target);
    const first = (await claim(hub, target)).body.build;
    await loseLease(first.id);
    const second = (await claim(other, target, { wait: 20 })).body.build;
    expect(second.id).toBe(first.id);
    expect(second.lease).not.toBe(first.lease);
    const snapshot = await addSnapshot(target);
    expect((await beat(target, first)).body.code).toBe('cloud_conflict');
    expect((await end(target, first, { outcome: 'done', snapshot })).body.code).toBe('cloud_conflict');
    expect((await end(target, first, { outcome: 'released' })).body.code).toBe('cloud_conflict');
    expect((await beat(target, second)).status).toBe(204);
    const stranger = (await hub.service('stranger', 'builder', [target.id])).token;
    expect((await beat({ ...target, token: stranger }, second)).status).toBe(404);
  });

  test('a build ends normally after its target has moved to another pool, where the next one is given', async () => {
    const target = await newTarget();
    await request(target);
    const { build } = (await claim(hub, target)).body;
    expect((await change(target, { pool: 'moved' })).status).toBe(200);
    expect((await beat(target, build)).status).toBe(204);
    // The target is built by one agent at a time, whatever the pool.
    const next = (await request(target)).body;
    expect((await claim(other, target, { pool: 'moved' })).body.build).toBeNull();
    const snapshot = await addSnapshot(target);
    expect((await end(target, build, { outcome: 'done', snapshot })).status).toBe(204);
    const ended = await hub.send('GET', `/builds/${build.id}`, { token: target.token });
    expect(ended.body).toMatchObject({ state: 'done', snapshot });
    expect((await claim(hub, target)).body.build).toBeNull();
    expect((await claim(other, target, { pool: 'moved' })).body.build).toMatchObject({ id: next.id });
  });

  test('a build that is lost after its target has moved to another pool is given to an agent of that pool', async () => {
    const target = await newTarget();
    await request(target);
    const first = (await claim(hub, target)).body.build;
    expect((await change(target, { pool: 'moved' })).status).toBe(200);
    await loseLease(first.id);
    const second = (await claim(other, target, { pool: 'moved', wait: 20 })).body.build;
    expect(second).toMatchObject({ id: first.id });
    expect((await beat(target, first)).body.code).toBe('cloud_conflict');
    expect((await beat(target, second)).status).toBe(204);
  });

  test('a released build is given to the next agent as if it were new', async () => {
    const target = await newTarget();
    await request(target);
    const first = (await claim(hub, target)).body.build;
    expect((await end(target, first, { outcome: 'released' })).status).toBe(204);
    const second = (await claim(other, target)).body.build;
    expect(second.id).toBe(first.id);
    expect((await end(target, first, { outcome: 'released' })).status).toBe(204);
    expect((await beat(target, second)).status).toBe(204);
  });

  test('a refused request creates no pool: the hub has a bounded number of them', async () => {
    const target = await newTarget({ builder_groups: ['others'] });
    const { token } = await hub.person('mia', ['developers']);
    const put = (pool: string, headers: Record<string, string>) =>
      hub.send('PUT', `/targets/${target.name}`, { token, body: { settings: {}, pool }, headers });
    expect((await put('stolen-1', { 'if-match': '"1"' })).status).toBe(412);
    expect((await put('stolen-2', { 'if-none-match': '*' })).status).toBe(403);
    const { rows } =
      await sql`SELECT name FROM ${sql.id(QUEUE_SCHEMA, 'queue')} WHERE name LIKE 'build/stolen%'`.execute(
        hub.database.db,
      );
    expect(rows).toEqual([]);
  });

  test('a member adds a few pools, and uses those of others; an owner adds more', async () => {
    const { token } = await hub.person(randomUUID(), ['developers']);
    const put = (pool: string, sender: string) =>
      hub.send('PUT', `/targets/${randomUUID()}`, {
        ...{ token: sender, body: { settings: {}, pool }, headers: { 'if-none-match': '*' } },
      });
    const pools = Array.from({ length: 11 }, (_, index) => `of-member-${index}`);
    const statuses: number[] = [];
    for (const pool of pools) statuses.push((await put(pool, token)).status);
    expect(statuses).toEqual([...Array(10).fill(201), 422]);
    expect((await put('of-member-10', hub.ownerToken)).status).toBe(201);
    expect((await put('of-member-10', token)).status).toBe(201);
    const { token: second } = await hub.person(randomUUID(), ['developers']);
    expect((await put('of-second', second)).status).toBe(201);
    const { body } = await hub.send('GET', '/audit_events?action=pool.create', { token: hub.ownerToken });
    expect(body.items).toContainEqual(expect.objectContaining({ object: 'of-member-9' }));
  });

  test('a schedule is checked, stored, moved with the pool, and removed', async () => {
    const target = await newTarget({ schedule: { cron: '30 2 * * *', timezone: 'Europe/Berlin' } });
    const schedules = async () => {
      const { rows } = await sql<{
        name: string;
        cron: string;
        timezone: string;
      }>`SELECT name, cron, timezone FROM pgboss.schedule WHERE key = ${target.id}`.execute(hub.database.db);
      return rows;
    };
    expect(await schedules()).toEqual([{ name: 'build/default', cron: '30 2 * * *', timezone: 'Europe/Berlin' }]);
    for (const [schedule, pointer] of [
      [{ cron: '99 2 * * *' }, '/schedule/cron'],
      [{ cron: '0 0 31 2 *' }, '/schedule/cron'],
      [{ cron: '30 2 * * *', timezone: 'Mars/Olympus' }, '/schedule/timezone'],
      [{ cron: '30 2 * * *', timezone: '+02:00' }, '/schedule/timezone'],
    ] as const) {
      const { status, body } = await change(target, { schedule });
      expect({ status, pointer: body.errors[0].pointer }, JSON.stringify(schedule)).toEqual({ status: 422, pointer });
    }
    const { id } = (await request(target)).body;
    const moved = await change(target, { schedule: { cron: '0 4 * * 7' }, pool: 'night' });
    expect(moved.body).toMatchObject({ schedule: { cron: '0 4 * * 7', timezone: 'UTC' }, pool: 'night' });
    expect(await schedules()).toEqual([{ name: 'build/night', cron: '0 4 * * 7', timezone: 'UTC' }]);
    // Agents of the old pool do not build what was queued there.
    expect((await claim(hub, target)).body).toEqual({ build: null, refused: [target.name] });
    expect((await claim(hub, target, { pool: 'night' })).body.build).toMatchObject({ id });
    expect((await change(target, {})).body).toMatchObject({ schedule: null, pool: null });
    expect(await schedules()).toEqual([]);
  });

  test('a build that is requested while its target moves to another pool is due in that pool', async () => {
    for (let round = 0; round < 12; round++) {
      const target = await newTarget();
      const pool = `pool-${round % 2}`;
      const [moved, { body, status }] = await Promise.all([change(target, { pool }), request(target)]);
      expect([moved.status, status]).toEqual([200, 201]);
      expect((await claim(hub, target, { pool })).body.build, `round ${round}`).toMatchObject({ id: body.id });
    }
  });

  test('a build that is released after its target moved to another pool is due in that pool', async () => {
    const target = await newTarget();
    await request(target);
    const first = (await claim(hub, target)).body.build;
    await change(target, { pool: 'moved' });
    expect((await end(target, first, { outcome: 'released' })).status).toBe(204);
    expect((await claim(hub, target, { pool: 'moved' })).body.build).toMatchObject({ id: first.id });
  });

  test('a build that is requested while its target is removed does not stay queued', async () => {
    for (let round = 0; round < 12; round++) {
      const target = await newTarget();
      const headers = { 'if-match': '"1"' };
      const removal = hub.send('DELETE', `/targets/${target.name}`, { token: hub.ownerToken, headers });
      const [removed, requested] = await Promise.all([removal, request(target)]);
      expect(removed.status).toBe(204);
      expect([201, 404]).toContain(requested.status);
      const { rows } =
        await sql`SELECT FROM pgboss.job WHERE singleton_key = ${target.id} AND state < 'active'`.execute(
          hub.database.db,
        );
      expect(rows, `round ${round}`).toEqual([]);
    }
  });

  test('a missed time of a schedule queues one build, whichever instance looks', async () => {
    const target = await newTarget({ schedule: { cron: '0 2 * * *' } });
    const { db } = hub.database;
    const past = sql`now() - interval '3 days'`;
    await sql`UPDATE pgboss.schedule SET created_on = ${past}, updated_on = ${past} WHERE key = ${target.id}`.execute(
      db,
    );
    await sql`UPDATE pgboss.version SET cron_on = ${past}`.execute(db);
    const { build } = (await claim(other, target, { wait: 20 })).body;
    expect(build.target).toBe(target.name);
    const jobs = await sql`SELECT FROM pgboss.job WHERE singleton_key = ${target.id}`.execute(db);
    expect(jobs.rows).toHaveLength(1);
  });

  test('the role that serves needs no more rights than migrate grants it', async () => {
    await hub.postgres.psql('postgres', {
      sql: "CREATE ROLE hub_owner LOGIN PASSWORD 'first'; CREATE ROLE hub_serving LOGIN PASSWORD 'second'",
    });
    await hub.postgres.createDatabase('least', 'hub_owner');
    const url = (user: string) => hub.postgres.url('least').replace(/\/\/[^@]*@/, `//${user}@`);
    const environment = { TOOL_HUB_DATABASE_URL: url('hub_owner:first'), TOOL_HUB_DATABASE_ROLE: 'hub_serving' };
    await migrate(environment);
    await migrate(environment);
    const ending = new AbortController();
    const lines: string[] = [];
    const settings = { ...hub.settings, databaseUrl: url('hub_serving:second') };
    const options = { settings, dev: false, version: '0.1.0', notice: 0, queueTimes: FAST, clock: () => new Date() };
    let running: Promise<void> = Promise.resolve();
    const served = await new Promise<RunningHub>((ready, failed) => {
      const write = (line: string) => void lines.push(line);
      running = serve({ ...options, write, signal: ending.signal, ready });
      running.catch(failed);
    });
    await hub.postgres.psql('least', {
      sql: `INSERT INTO tokens (hash, name, role, target_ids, expires_at)
        VALUES (sha256('toolhub_test'), 'test', 'owner', '{}', now() + interval '1 hour')`,
    });
    const send = (method: string, path: string, body: object) =>
      fetch(`${served.url}/api/v3${path}`, {
        method,
        headers: { authorization: 'Bearer toolhub_test', 'content-type': 'application/json', 'if-none-match': '*' },
        body: JSON.stringify(body),
      });
    const target = { settings: {}, schedule: { cron: '* * * * *' }, pool: 'small', expected_every: '1h' };
    expect((await send('PUT', '/targets/orders', target)).status).toBe(201);
    expect((await send('POST', '/targets/orders/builds', {})).status).toBe(201);
    const claimed = await send('POST', '/builds/claim', { targets: ['orders'], pool: 'small' });
    const { id, lease } = ((await claimed.json()) as { build: { id: string; lease: string } }).build;
    const failed = { lease, outcome: 'failed', code: 'dump_failed', message: 'No space' };
    expect((await send('POST', `/builds/${id}/finish`, failed)).status).toBe(204);
    // Schedules, leases and notifications are looked after as well.
    await eventually(async () => {
      const done = await hub.postgres.psql('least', {
        sql: `SELECT count(*) FROM pgboss.job WHERE name = 'notifications' AND state = 'completed'
          UNION ALL SELECT count(*) FROM pgboss.version WHERE cron_on IS NOT NULL
          UNION ALL SELECT count(*) FROM pgboss.queue WHERE name = 'build/small' AND monitor_on IS NOT NULL`,
      });
      return done.trim() === '1\n1\n1';
    });
    ending.abort();
    await running;
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  test('a claim that waits is answered when the instance ends', async () => {
    const target = await newTarget();
    const { rows: queues } = await sql`SELECT name FROM pgboss.queue ORDER BY name`.execute(hub.database.db);
    const before = new Date();
    const third = await startHub({ keys: hub.settings.keys }, hub.postgres);
    const waiting = claim(third, target, { wait: 30, pool: 'unknown' });
    await eventually(async () => {
      const { rows } = await sql`SELECT FROM pg_stat_activity WHERE application_name = 'tool hub'
        AND backend_start > ${before} AND query LIKE '%"targets"%"name" in (%'`.execute(hub.database.db);
      return rows.length > 0;
    });
    // Whoever may claim creates no queues.
    expect((await sql`SELECT name FROM pgboss.queue ORDER BY name`.execute(hub.database.db)).rows).toEqual(queues);
    const started = performance.now();
    await third.stop();
    expect((await waiting).body.build).toBeNull();
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test('a build that is unknown is not there', async () => {
    expect((await hub.send('GET', `/builds/${randomUUID()}`, { token: hub.ownerToken })).status).toBe(404);
  });
});
