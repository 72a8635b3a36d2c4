import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publish } from '../../hub/database/snapshots.ts';
import { findTarget } from '../../hub/database/targets.ts';
import { ROUTES, type Route, type RouteName } from '../../src/cloud/contract/routes.ts';
import { putStorageProfile, putTarget, startHub, type TestHub } from '../helpers/hub.ts';
import { describeWithPostgres } from '../helpers/postgres-server.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/s3-server.ts';

/** Every kind of caller. */
const CALLERS = [
  'nobody',
  'unknown token',
  'expired session',
  'revoked session',
  'disabled user',
  'outsider',
  'reader',
  'reader of originals',
  'member',
  'member without builder group',
  'owner',
  'auditor',
  'builder token',
  'builder token of another target',
  'reader token',
] as const;

type CallerKind = (typeof CALLERS)[number];
type Row = Record<CallerKind, number>;

function everybody(status: number): Row {
  return Object.fromEntries(CALLERS.map((caller) => [caller, status])) as Row;
}

function signedIn(status: number): Row {
  return { ...everybody(status), ...refusedWithoutToken() };
}

/** Signed-in callers who are not named get `others`. */
function only(permitted: Partial<Record<CallerKind, number>>, others: number): Row {
  return { ...signedIn(others), ...permitted };
}

function refusedWithoutToken() {
  const refused = ['nobody', 'unknown token', 'expired session', 'revoked session', 'disabled user'] as const;
  return Object.fromEntries(refused.map((caller) => [caller, 401]));
}

const READERS: Row = only(
  { outsider: 404, auditor: 404, 'member without builder group': 404, 'builder token of another target': 404 },
  200,
);

/** Who may push: others that see the target are refused, and for those who do not it does not exist. */
function pushers(status: number): Row {
  return only(
    {
      owner: status,
      member: status,
      'builder token': status,
      reader: 403,
      'reader of originals': 403,
      'reader token': 403,
    },
    404,
  );
}

function managers(status: number): Row {
  return { ...pushers(status), 'builder token': 403 };
}

/** For others the build does not exist. */
function pushersOfBuilds(status: number): Row {
  return only({ owner: status, member: status, 'builder token': status }, 404);
}

const OWNERS = (status: number): Row => only({ owner: status }, 403);

/**
 * The status of every route for every kind of caller, on a target that is shared with the group `readers`, whose
 * originals are shared with `original readers` and which the group `developers` manages. 422: the request was let in, and
 * is refused for its content.
 */
const EXPECTED: Record<RouteName, Row> = {
  root: everybody(200),
  openapi: everybody(200),
  createSession: everybody(401),
  endSession: signedIn(204),
  me: signedIn(200),
  listTargets: signedIn(200),
  getTarget: READERS,
  putTarget: only({ owner: 200, member: 200 }, 403),
  deleteTarget: managers(409),
  getRetention: managers(200),
  getTargetSecrets: pushers(200),
  listSnapshots: READERS,
  getSnapshot: READERS,
  publishSnapshot: pushers(422),
  annotateSnapshot: managers(204),
  removeSnapshot: managers(204),
  requestUploads: pushers(200),
  verifyUploads: pushers(200),
  requestDownloads: READERS,
  requestBuild: pushers(201),
  claimBuild: signedIn(200),
  heartbeatBuild: pushersOfBuilds(204),
  finishBuild: pushersOfBuilds(204),
  getBuild: pushersOfBuilds(200),
  listStorageProfiles: OWNERS(200),
  getStorageProfile: OWNERS(200),
  putStorageProfile: OWNERS(200),
  deleteStorageProfile: OWNERS(409),
  checkStorageProfile: OWNERS(200),
  listTokens: OWNERS(200),
  createToken: OWNERS(201),
  revokeToken: OWNERS(204),
  listUsers: OWNERS(200),
  updateUser: OWNERS(200),
  listAuditEvents: only({ owner: 200, auditor: 200 }, 403),
};

const OBJECT = 'a'.repeat(64);

describeWithPostgres('permissions of the hub', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    let bystander: string;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub(), startS3()]);
      await putStorageProfile(hub, 'team', await s3.bucket());
      bystander = (await hub.person('bystander', [])).userId;
    });

    afterAll(async () => {
      await hub.stop();
      await s3.stop();
    });

    async function makeTarget(): Promise<{ name: string; id: string; sanitized: string; original: string }> {
      const name = `orders-${randomBytes(4).toString('hex')}`;
      const id = await putTarget(hub, name, {
        settings: {
          storage_profile: 'team',
          sso_groups: ['readers'],
          snapshot: { src_url: 'postgres://app:very-secret@db.example.com/orders' },
          sanitize: { override_query: 'UPDATE users SET email = NULL' },
        },
        original_groups: ['original readers'],
        builder_groups: ['developers'],
      });
      const [sanitized, original] = [await makeSnapshot(name, true), await makeSnapshot(name, false)];
      return { name, id, sanitized, original };
    }

    async function makeSnapshot(target: string, sanitized: boolean): Promise<string> {
      const id = randomBytes(4).toString('hex');
      const { db } = hub.database;
      const found = await findTarget(db, target);
      if (!found?.original_profile_id) throw new Error('The target has no storage profile');
      const place = { target_id: found.id, profile_id: found.original_profile_id };
      const object = { sha256: OBJECT, stored_sha256: OBJECT, stored_bytes: 1, state: 'stored' } as const;
      await db
        .insertInto('objects')
        .values({ ...place, ...object })
        .onConflict((on) => on.doNothing())
        .execute();
      const created_at = '2026-01-01T00:00:00.000Z';
      const common = {
        target,
        id,
        created_at,
        sanitized,
        engine: 'postgres' as const,
        server_version: '15',
        schemas: [],
      };
      await publish(db, {
        targetId: found.id,
        profileId: found.original_profile_id,
        headline: { ...common, tables: 0, rows: 0, size_bytes: 0, stored_bytes: 0, note: null },
        sha256s: [OBJECT],
        manifestKey: `snapshots/${target}/20260101T000000000Z-${id}.json`,
        manifestSha256: OBJECT,
        event: { actor: 'test', action: 'snapshot.publish' },
        store: async () => {},
      });
      return id;
    }

    async function tokenOf(kind: CallerKind, targetId: string): Promise<string | undefined> {
      const person = async (groups: string[], options = {}): Promise<string> =>
        (await hub.person(`${kind} ${randomUUID()}`, groups, options)).token;
      const end = async (path: string, token: string): Promise<string> => {
        await hub.send('DELETE', path, { token });
        return token;
      };
      switch (kind) {
        case 'nobody':
          return undefined;
        case 'unknown token':
          return `toolhub_${'x'.repeat(43)}`;
        case 'expired session':
          return person(['owners'], { hours: -1 });
        case 'revoked session':
          return end('/sessions/current', await person(['owners']));
        case 'disabled user': {
          const { token, userId } = await hub.person(`disabled ${randomUUID()}`, ['owners']);
          await hub.send('PATCH', `/users/${userId}`, { token: hub.ownerToken, body: { disabled: true } });
          return token;
        }
        case 'outsider':
          return person([]);
        case 'reader':
          return person(['readers']);
        case 'reader of originals':
          return person(['original readers']);
        case 'member':
          return person(['developers']);
        case 'member without builder group':
          return person(['other developers']);
        case 'owner':
          return person(['owners']);
        case 'auditor':
          return person(['auditors']);
        case 'builder token':
          return (await hub.service('ci', 'builder', [targetId])).token;
        case 'builder token of another target':
          return (await hub.service('ci', 'builder', [randomUUID()])).token;
        case 'reader token':
          return (await hub.service('job', 'reader', [targetId])).token;
        default:
          return kind satisfies never;
      }
    }

    interface Case {
      path: string;
      body?: unknown;
      headers?: Record<string, string>;
    }

    /** A request of this route that is right but for the caller. */
    async function caseOf(
      name: RouteName,
      target: { name: string; sanitized: string },
      token: string | undefined,
    ): Promise<Case> {
      const route: Route = ROUTES[name];
      const build = route.path.startsWith('/builds/{id}') ? await claimedBuild(target.name, token) : null;
      const other = name === 'revokeToken' ? (await hub.service('other', 'reader', [])).id : bystander;
      const id = build?.id ?? other;
      const lease = build?.lease ?? randomUUID();
      const profile = route.path.startsWith('/storage_profiles');
      const path = route.path
        .replace('{name}', profile ? 'team' : target.name)
        .replace('{snapshot}', target.sanitized)
        .replace('{id}', id);
      const objects = [{ sha256: 'b'.repeat(64), stored_sha256: 'c'.repeat(64), stored_bytes: 10 }];
      const bodies: Partial<Record<RouteName, unknown>> = {
        createSession: { id_token: 'none.of.ours' },
        putTarget: { settings: { name: 'Changed', sso_groups: ['readers'] }, builder_groups: ['developers'] },
        publishSnapshot: '{"format":1}',
        annotateSnapshot: { note: 'seen' },
        requestUploads: { sanitized: false, objects },
        verifyUploads: { sanitized: false, objects: [{ sha256: 'd'.repeat(64) }] },
        requestDownloads: { objects: [OBJECT] },
        requestBuild: {},
        claimBuild: { targets: [target.name] },
        heartbeatBuild: { lease },
        finishBuild: { lease, outcome: 'failed', code: 'dump_failed', message: 'No space' },
        putStorageProfile: { settings: await currentProfile() },
        createToken: { name: 'ci', role: 'builder', targets: [target.name], expires_in_days: 1 },
        updateUser: { disabled: false },
      };
      const revision = profile ? await profileRevision() : 1;
      return { path, body: bodies[name], headers: route.conditional ? { 'if-match': `"${revision}"` } : {} };
    }

    let claimed: { target: string; id: string; lease: string } | null = null;

    /** A build of the target that this caller has claimed, as far as the hub knows the token. */
    async function claimedBuild(target: string, token: string | undefined): Promise<{ id: string; lease: string }> {
      const owner = { token: hub.ownerToken };
      if (claimed?.target !== target) {
        await hub.send('POST', `/targets/${target}/builds`, { ...owner, body: {} });
        const { body } = await hub.send('POST', '/builds/claim', { ...owner, body: { targets: [target] } });
        claimed = { target, id: body.build.id, lease: body.build.lease };
      }
      const { body: me } = await hub.send('GET', '/me', { token });
      const change = { caller_id: me?.id ?? randomUUID() };
      await hub.database.db.updateTable('builds').set(change).where('lease', '=', claimed.lease).execute();
      return claimed;
    }

    async function currentProfile(): Promise<object> {
      const { body } = await hub.send('GET', '/storage_profiles/team', { token: hub.ownerToken });
      return { ...body.settings, access_key: 'testaccess', secret_key: 'testsecret123' };
    }

    async function profileRevision(): Promise<number> {
      return (await hub.send('GET', '/storage_profiles/team', { token: hub.ownerToken })).body.revision;
    }

    /** What a case changes for the next one. */
    const CHANGING: RouteName[] = ['endSession', 'putTarget', 'removeSnapshot', 'requestBuild'];

    interface Surroundings {
      target: { name: string; id: string; sanitized: string };
      tokens: Map<CallerKind, string | undefined>;
    }

    async function makeSurroundings(callers: readonly CallerKind[]): Promise<Surroundings> {
      const target = await makeTarget();
      const tokens = new Map<CallerKind, string | undefined>();
      for (const caller of callers) tokens.set(caller, await tokenOf(caller, target.id));
      return { target, tokens };
    }

    let shared: Surroundings;

    beforeAll(async () => {
      shared = await makeSurroundings(CALLERS);
    });

    test.each(Object.keys(ROUTES) as RouteName[])('%s answers every kind of caller as the table says', async (name) => {
      const expected = EXPECTED[name];
      expect(Object.keys(expected).sort()).toEqual([...CALLERS].sort());
      const found: Partial<Row> = {};
      for (const caller of CALLERS) {
        const { target, tokens } = CHANGING.includes(name) ? await makeSurroundings([caller]) : shared;
        const token = tokens.get(caller);
        const { path, body, headers = {} } = await caseOf(name, target, token);
        const answer = await hub.send(ROUTES[name].method, path, { token, body, headers });
        found[caller] = answer.status;
        if (caller !== 'owner') expect(answer.text, caller).not.toContain('testsecret123');
        if (!['getTargetSecrets'].includes(name)) expect(answer.text, caller).not.toContain('very-secret');
      }
      expect(found).toEqual(expected);
    });

    test('a route or a caller without an expectation fails', () => {
      expect(Object.keys(EXPECTED).sort()).toEqual(Object.keys(ROUTES).sort());
    });

    test('a reader finds sanitized snapshots only, in lists, counts, by name and for download', async () => {
      const target = await makeTarget();
      const { token } = await hub.person('rita', ['readers']);
      const at = `/targets/${target.name}`;
      const item = (await hub.send('GET', '/targets?limit=200', { token })).body.items.find(
        ({ name }: { name: string }) => name === target.name,
      );
      expect(item).toMatchObject({ snapshots: 1, permissions: ['read'] });
      expect((await hub.send('GET', at, { token })).body.snapshots).toBe(1);
      const listed = await hub.send('GET', `${at}/snapshots`, { token });
      expect(listed.body.items.map(({ id }: { id: string }) => id)).toEqual([target.sanitized]);
      expect((await hub.send('GET', `${at}/snapshots?sanitized=false`, { token })).body.items).toEqual([]);
      expect((await hub.send('GET', `${at}/snapshots/${target.original}`, { token })).status).toBe(404);
      const download = { token, body: { objects: [OBJECT] } };
      const path = `${at}/snapshots/${target.original}/downloads`;
      expect((await hub.send('POST', path, download)).body.code).toBe('snapshot_unknown');
      const { token: other } = await hub.person('oscar', ['original readers']);
      expect((await hub.send('GET', `${at}/snapshots`, { token: other })).body.items).toHaveLength(2);
    });

    test('what a caller may not read answers as what does not exist', async () => {
      const target = await makeTarget();
      const { token } = await hub.person('zoe', []);
      const hidden = await hub.send('GET', `/targets/${target.name}`, { token });
      const missing = await hub.send('GET', '/targets/nowhere', { token });
      const comparable = ({ status, body: { request_id: _, detail: __, ...body } }: typeof hidden) => ({
        status,
        ...body,
      });
      expect(comparable(hidden)).toEqual(comparable(missing));
      expect((await hub.send('GET', '/targets?limit=200', { token })).body.items).toEqual([]);
    });

    test('a reader is told no source, no query, and no group', async () => {
      const target = await makeTarget();
      const { token } = await hub.person('rita', ['readers']);
      const { text, body } = await hub.send('GET', `/targets/${target.name}`, { token });
      expect(body.settings).toEqual({ snapshot: { src_url: null, dst_url: null } });
      for (const hidden of ['db.example.com', 'UPDATE', 'original readers', 'developers']) {
        expect(text).not.toContain(hidden);
      }
    });

    test('a list and a single look decide alike, for every kind of caller', async () => {
      const target = await makeTarget();
      for (const caller of CALLERS.slice(5)) {
        const token = await tokenOf(caller, target.id);
        const single = await hub.send('GET', `/targets/${target.name}`, { token });
        const list = await hub.send('GET', `/targets?q=${target.name}`, { token });
        const [item] = list.body.items;
        expect(item !== undefined, caller).toBe(single.status === 200);
        if (item) {
          const { permissions, snapshots, settings } = single.body;
          expect(item, caller).toMatchObject({ permissions, snapshots, settings });
        }
      }
    });

    test('a refusal is in the audit', async () => {
      const { token } = await hub.person('eve', []);
      await hub.send('GET', '/tokens', { token });
      const { body } = await hub.send('GET', '/audit_events?actor=eve', { token: hub.ownerToken });
      expect(body.items).toMatchObject([{ actor: 'eve', action: 'GET /tokens', outcome: 'refused' }]);
    });
  });
});
