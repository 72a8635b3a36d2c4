import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { sql } from 'kysely';
import * as v from 'valibot';
import { beforeAll, expect, test } from 'vitest';
import { HUB } from '../../hub/database/audit.ts';
import { publish } from '../../hub/database/snapshots/snapshots.ts';
import { findTarget } from '../../hub/database/targets/targets.ts';
import { type HubRoute, MOST_BODY_BYTES } from '../../src/cloud/contract/route.ts';
import { ROUTES, type RouteName } from '../../src/cloud/contract/routes.ts';
import { problemSchema } from '../../src/cloud/contract/schemas.ts';
import { putStorageProfile, putTarget, type Received, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const OBJECT = 'a'.repeat(64);
const SNAPSHOT = 'abcdef01';
const PROFILE = { provider: 's3', bucket: 'b', access_key: 'key', secret_key: 'secret' };

interface Right {
  path: string;
  body?: Record<string, unknown>;
  /** Of each field of the body a value of another type. */
  wrong?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** A request of every route that an owner may send, but for what a case makes wrong. */
function rightRequests({
  user,
  token,
  build,
  lease,
}: Record<'user' | 'token' | 'build' | 'lease', string>): Record<RouteName, Right> {
  const target = '/targets/orders';
  const snapshot = `${target}/snapshots/${SNAPSHOT}`;
  const objects = [{ sha256: 'b'.repeat(64), stored_sha256: 'c'.repeat(64), stored_bytes: 10 }];
  const ifMatch = { 'if-match': '"1"' };
  return {
    root: { path: '/' },
    openapi: { path: '/openapi.json' },
    createSession: { path: '/sessions', body: { id_token: 'none.of.ours' }, wrong: { id_token: 7 } },
    endSession: { path: '/sessions/current' },
    me: { path: '/me' },
    listTargets: { path: '/targets' },
    getTarget: { path: target },
    putTarget: {
      path: target,
      body: { settings: { name: 'Changed' }, builder_groups: ['developers'] },
      wrong: { settings: [], builder_groups: 'developers' },
      headers: ifMatch,
    },
    deleteTarget: { path: target, headers: ifMatch },
    getRetention: { path: `${target}/retention` },
    getTargetSecrets: { path: `${target}/secrets` },
    listSnapshots: { path: `${target}/snapshots` },
    getSnapshot: { path: snapshot },
    publishSnapshot: { path: snapshot, body: { format: 1 } },
    getImage: { path: `${snapshot}/images/15-linux-x64` },
    publishImage: { path: `${snapshot}/images/15-linux-x64`, body: { format: 1 } },
    annotateSnapshot: { path: snapshot, body: { note: 'seen' }, wrong: { note: {} } },
    removeSnapshot: { path: snapshot },
    requestUploads: {
      path: `${target}/uploads`,
      body: { sanitized: false, objects },
      wrong: { sanitized: 'no', objects: [{ ...objects[0], stored_bytes: -1 }] },
    },
    verifyUploads: {
      path: `${target}/verify`,
      body: { sanitized: false, objects: [{ sha256: OBJECT }] },
      wrong: { sanitized: null, objects: [{ sha256: '../../etc' }] },
    },
    requestDownloads: {
      path: `${snapshot}/downloads`,
      body: { objects: [OBJECT] },
      wrong: { objects: Array(201).fill(OBJECT) },
    },
    reportObjects: { path: `${snapshot}/reports`, body: { objects: [OBJECT] }, wrong: { objects: ['../../etc'] } },
    reportRestore: { path: `${snapshot}/restores`, body: {} },
    requestBuild: { path: `${target}/builds`, body: {} },
    claimBuild: {
      path: '/builds/claim',
      body: { pool: 'default', targets: ['orders'], wait: 0 },
      wrong: { pool: 'No Pool', targets: Array(1001).fill('orders'), wait: 31 },
    },
    heartbeatBuild: {
      path: `/builds/${build}/heartbeat`,
      body: { lease },
      wrong: { lease: 'mine' },
    },
    finishBuild: {
      path: `/builds/${build}/finish`,
      body: { lease, outcome: 'failed', code: 'dump_failed', message: 'No space' },
      wrong: { lease: null, outcome: 'maybe', code: 'No code', message: 'x'.repeat(1001) },
    },
    getBuild: { path: `/builds/${build}` },
    listStorageProfiles: { path: '/storage_profiles' },
    getStorageProfile: { path: '/storage_profiles/team' },
    putStorageProfile: {
      path: '/storage_profiles/team',
      body: { settings: { ...PROFILE, region: 'eu-west-1' } },
      wrong: { settings: { ...PROFILE, provider: 'ftp' } },
      headers: ifMatch,
    },
    deleteStorageProfile: { path: '/storage_profiles/team', headers: ifMatch },
    checkStorageProfile: { path: '/storage_profiles/team/check' },
    listTokens: { path: '/tokens' },
    createToken: {
      path: '/tokens',
      body: { name: 'ci', role: 'builder', targets: ['orders'], expires_in_days: 1 },
      wrong: { name: '', role: 'owner', targets: [], expires_in_days: 1.5 },
    },
    revokeToken: { path: `/tokens/${token}` },
    listUsers: { path: '/users' },
    updateUser: { path: `/users/${user}`, body: { disabled: true }, wrong: { disabled: 'yes' } },
    listAuditEvents: { path: '/audit_events' },
  };
}

describeWithPostgres('bad input', () => {
  const hub = suiteResource(() => startHub({ timeouts: { request: 1500, headers: 1000 } }));
  let right: Record<RouteName, Right>;
  let refusedTokens: Record<string, string | undefined>;

  beforeAll(async () => {
    await putStorageProfile(hub, 'team', PROFILE);
    await putTarget(hub, 'orders', { settings: { storage_profile: 'team' } });
    await addSnapshot();
    const { userId } = await hub.person('bystander', []);
    right = rightRequests({
      user: userId,
      token: (await hub.service('other', 'reader', [])).id,
      ...(await claimBuild()),
    });
    const disabled = await hub.person('disabled', ['owners']);
    await hub.send('PATCH', `/users/${disabled.userId}`, { token: hub.ownerToken, body: { disabled: true } });
    const revoked = await hub.person('revoked', ['owners']);
    await hub.send('DELETE', '/sessions/current', { token: revoked.token });
    refusedTokens = {
      'no token': undefined,
      'an unknown token': `toolhub_${'x'.repeat(43)}`,
      'a token that is too long': 'x'.repeat(5000),
      'an expired token': (await hub.person('late', ['owners'], { hours: -1 })).token,
      'a revoked token': revoked.token,
      'the token of a disabled user': disabled.token,
    };
  });

  async function claimBuild(): Promise<{ build: string; lease: string }> {
    const owner = { token: hub.ownerToken };
    await hub.send('POST', '/targets/orders/builds', { ...owner, body: {} });
    const { body } = await hub.send('POST', '/builds/claim', { ...owner, body: { targets: ['orders'] } });
    return { build: body.build.id, lease: body.build.lease };
  }

  async function addSnapshot(): Promise<void> {
    const { db } = hub.database;
    const found = await findTarget(db, 'orders');
    const place = { targetId: found?.id ?? '', profileId: found?.original_profile_id ?? '' };
    const object = { sha256: OBJECT, stored_sha256: OBJECT, stored_bytes: 1, state: 'stored' } as const;
    const row = { target_id: place.targetId, profile_id: place.profileId, ...object };
    await db.insertInto('objects').values(row).execute();
    const common = { target: 'orders', id: SNAPSHOT, created_at: '2026-01-01T00:00:00.000Z', sanitized: false };
    const counts = { tables: 0, rows: 0, size_bytes: 0, stored_bytes: 0, note: null };
    await publish(db, {
      ...place,
      headline: { ...common, engine: 'postgres', server_version: '15', schemas: [], ...counts },
      sha256s: [OBJECT],
      manifestKey: `snapshots/orders/20260101T000000000Z-${SNAPSHOT}.json`,
      manifestSha256: OBJECT,
      event: { by: HUB, action: 'snapshot.publish' },
      store: async () => {},
    });
  }

  const TABLES = [
    ...['users', 'tokens', 'spent_id_tokens', 'storage_profiles', 'secrets', 'targets', 'objects', 'snapshots'],
    ...['snapshot_objects', 'images', 'image_objects', 'sweeps', 'audit_events', 'builds', 'kysely_migration'],
  ];

  /** Every row of every table; but refused sign-ins are counted. */
  async function content(): Promise<string> {
    const tables = TABLES.map(
      (table) => sql`SELECT ${table} AS name, string_agg(t::text, E'\n' ORDER BY t::text) FROM ${sql.id(table)} t`,
    );
    const { rows } = await sql`${sql.join(tables, sql` UNION ALL `)}`.execute(hub.database.db);
    return JSON.stringify(rows);
  }

  const expectedOf = ({ status, body }: Received) => ({ status, code: body?.code, type: body?.type });
  const problem = (status: number, code: string) => ({ status, code, type: `urn:tool:${code}` });
  const UNAUTHORIZED = problem(401, 'cloud_token_refused');
  const REFUSED = problem(422, 'cloud_refused');
  const FORBIDDEN = problem(403, 'not_permitted');
  const TOO_LARGE = problem(413, 'cloud_too_large');

  type Case = [what: string, sent: Promise<Received>, expected: object];

  test('every table of the database is compared', async () => {
    const { rows } = await sql<{
      name: string;
    }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`.execute(hub.database.db);
    const others = ['kysely_migration_lock', 'refused_sign_ins'];
    expect(rows.map(({ name }) => name).sort()).toEqual([...TABLES, ...others].sort());
  });

  test.each(Object.keys(ROUTES) as RouteName[])(
    '%s answers bad input with its error, and changes nothing',
    async (name) => {
      const route: HubRoute = ROUTES[name];
      const { path, body, wrong = {}, headers = {} } = right[name];
      const token = hub.ownerToken;
      const send = (change: Parameters<TestHub['send']>[2], at = path) =>
        hub.send(route.method, at, { token, body, headers, ...change });
      const before = await content();
      const browser = (more: Record<string, string>) => send({ headers: { ...headers, ...more } });
      const cases: Case[] = [
        ['a page of another site', browser({ origin: 'https://evil.example' }), FORBIDDEN],
        ['a page of the same site', browser({ 'sec-fetch-site': 'same-origin' }), FORBIDDEN],
        ['an old program', browser({ 'user-agent': 'tool/0.0.1' }), problem(426, 'tool_too_old')],
        ['an unknown parameter', send({}, `${path}?surprise=1`), REFUSED],
        ['another method', hub.send('PATCH', '/me', { token }), problem(405, 'cloud_method')],
      ];
      if (route.access !== 'public') {
        for (const [what, refused] of Object.entries(refusedTokens)) {
          cases.push([what, send({ token: refused }), UNAUTHORIZED]);
        }
        const basic = { ...headers, authorization: `Basic ${btoa(`owner:${token}`)}` };
        cases.push(['another scheme', send({ token: undefined, headers: basic }), UNAUTHORIZED]);
      }
      if (route.path.includes('{')) {
        const impossible = path.replace(/orders|team|[0-9a-f]{8}-[0-9a-f-]{27}/, '%00..%2f');
        const missing = path.replace(/orders|team|[0-9a-f]{8}-[0-9a-f-]{27}/, randomUUID());
        cases.push([
          'a name that cannot be',
          send({}, impossible),
          { status: 404, code: 'cloud_unknown', type: 'urn:tool:cloud_unknown' },
        ]);
        if (name !== 'putTarget') {
          cases.push([
            'a name that is not there',
            send({ headers: { ...headers } }, missing),
            expect.objectContaining({ status: name === 'putStorageProfile' ? 412 : 404 }),
          ]);
        }
      }
      if (route.conditional) {
        cases.push(['no revision', send({ headers: {} }), problem(428, 'cloud_condition')]);
        cases.push([
          'two conditions',
          send({ headers: { ...headers, 'if-none-match': '*' } }),
          problem(428, 'cloud_condition'),
        ]);
        cases.push(['another revision', send({ headers: { 'if-match': '"999"' } }), problem(412, 'cloud_changed')]);
      }
      if (body) {
        cases.push(['malformed JSON', send({ body: '{"settings":' }), REFUSED]);
        cases.push(['no object', send({ body: '[[[]]]' }), REFUSED]);
        cases.push(['deep JSON', send({ body: '['.repeat(100_000) }), REFUSED]);
        cases.push(['an unknown field', send({ body: { ...body, surprise: 1 } }), REFUSED]);
        cases.push(['no body', send({ body: '' }), REFUSED]);
        cases.push(['another type', send({ headers: { ...headers, 'content-type': 'text/plain' } }), REFUSED]);
        expect(Object.keys(wrong).length, 'wrong values').toBe(route.textBody ? 0 : Object.keys(body).length);
        for (const [key, value] of Object.entries(wrong)) {
          cases.push([`${key} of another type`, send({ body: { ...body, [key]: value } }), REFUSED]);
        }
        const most = route.maxBodyBytes ?? MOST_BODY_BYTES;
        cases.push([
          'a body over the limit',
          large(route.method, path, { headers, bytes: most + 1, claimed: true }),
          TOO_LARGE,
        ]);
        cases.push(['the same without its length', large(route.method, path, { headers, bytes: most + 1 }), TOO_LARGE]);
      }
      for (const [what, sent, expected] of cases) {
        const received = await sent;
        expect(expectedOf(received), what).toEqual(expected);
        expect(received.body.detail, `${what}: words for people`).not.toMatch(/(^| )\/\w/);
      }
      expect(await content()).toBe(before);
      expect(hub.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    },
  );

  /** A body of so many bytes, in pieces; `claimed`: with its length, and only the first piece of it. */
  async function large(
    method: string,
    path: string,
    { headers, bytes, claimed = false }: { headers: Record<string, string>; bytes: number; claimed?: boolean },
  ): Promise<Received> {
    const sent = httpRequest(`${hub.url}/api/v3${path}`, {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${hub.ownerToken}`,
        'content-type': 'application/json',
        ...(claimed && { 'content-length': bytes }),
      },
    });
    const answered = new Promise<Received>((resolve, reject) => {
      sent.on('error', reject);
      sent.on('response', async (response) => {
        sent.on('error', () => {});
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: new Headers(), text, body: JSON.parse(text) });
      });
    });
    const closed = new Promise<void>((resolve) => sent.once('close', resolve));
    const piece = Buffer.alloc(64 * 1024, 'x');
    for (let rest = claimed ? 1 : bytes; rest > 0 && !sent.destroyed; rest -= piece.length) {
      if (!sent.write(piece.subarray(0, Math.min(rest, piece.length)))) {
        await Promise.race([once(sent, 'drain'), answered, closed]).catch(() => {});
      }
    }
    if (!claimed) sent.end();
    return answered;
  }

  test('a request that does not arrive is ended: slow headers, a slow body, a body that breaks off', async () => {
    const before = await content();
    const head = [
      'PUT /api/v3/targets/slow HTTP/1.1',
      'host: hub',
      `authorization: Bearer ${hub.ownerToken}`,
      'content-type: application/json',
      'if-none-match: *',
      'content-length: 100',
    ].join('\r\n');
    expect(await ending('GET /api/v3 HTTP/1.1\r\nhost:')).toMatch(/^HTTP\/1.1 408 /);
    expect(await ending(`${head}\r\n\r\n{"settings":`)).toMatch(/^HTTP\/1.1 408 /);
    await ending(`${head}\r\n\r\n{"settings":`, { breaksOff: true });
    await eventually(async () => hub.lines.filter((line) => /"putTarget","status":422/.test(line)).length >= 2);
    expect(await content()).toBe(before);
    expect(hub.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  test.each([
    ['an unknown expectation', 'GET /api/v3 HTTP/1.1\r\nhost: hub\r\nexpect: more\r\nconnection: close\r\n\r\n', 417],
    ['large headers', `GET /api/v3 HTTP/1.1\r\nhost: hub\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`, 431],
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['an invalid host', 'GET /api/v3 HTTP/1.1\r\nhost: a b\r\nconnection: close\r\n\r\n', 400],
    ['no host', 'GET /api/v3 HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['headers that do not arrive', 'GET /api/v3 HTTP/1.1\r\nhost:', 408],
  ])('a request with %s is answered with a problem document', async (_what, text, status) => {
    const [head = '', body = ''] = (await ending(text)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} [A-Z]`));
    expect(head.toLowerCase()).toContain('content-type: application/problem+json');
    expect(v.parse(problemSchema, JSON.parse(body))).toMatchObject({ status, code: 'cloud_refused' });
  });

  test('an error of the files of the database is answered as temporary', async () => {
    await hub.postgres.psql('postgres', {
      sql: `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          RAISE 'could not read block 0' USING ERRCODE = 'io_error'; END $$;
        CREATE TRIGGER fail BEFORE INSERT ON targets EXECUTE FUNCTION fail()`,
    });
    const answer = await hub.send('PUT', '/targets/unreadable', {
      token: hub.ownerToken,
      body: { settings: {} },
      headers: { 'if-none-match': '*' },
    });
    await hub.postgres.psql('postgres', { sql: 'DROP FUNCTION fail() CASCADE' });
    hub.lines.length = 0;
    expect(answer).toMatchObject({ status: 503, body: { code: 'cloud_unavailable' } });
    expect(answer.body.detail).toBe('The database of the hub cannot do this at present');
    expect(answer.headers.get('retry-after')).toBe('2');
  });

  test.each([
    ['/tokens', ['yesterday', '00000000-0000-4000-8000-000000000000']],
    ['/tokens', ['-200000-01-01T00:00:00.000Z', '00000000-0000-4000-8000-000000000000']],
    ['/tokens', ['2026-01-01T00:00:00.000Z', 'x']],
    ['/users', ['a', 'x']],
    ['/audit_events', ['x']],
  ])('a forged cursor of %s is refused before it reaches the database: %j', async (path, parts) => {
    const cursor = Buffer.from(JSON.stringify(parts)).toString('base64url');
    const { status, body } = await hub.send('GET', `${path}?cursor=${cursor}`, { token: hub.ownerToken });
    expect({ status, detail: body.detail }).toEqual({ status: 422, detail: 'The cursor is not valid' });
  });

  /** What the hub answers to this before it closes the connection. */
  async function ending(text: string, { breaksOff = false } = {}): Promise<string> {
    const socket = connect(Number(new URL(hub.url).port), '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('error', () => {});
    socket.write(text);
    if (breaksOff) setImmediate(() => socket.destroy());
    await once(socket, 'close');
    return answer;
  }
});
