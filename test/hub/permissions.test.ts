import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  OPERATIONS,
  type Operation,
  RELATIONS,
  type Relation,
  readAccessTable,
  routeOf,
} from '../../.ci/generate/access-table.ts';
import { HUB } from '../../hub/database/audit.ts';
import { openDatabase } from '../../hub/database/database.ts';
import { publishImage } from '../../hub/database/snapshots/images.ts';
import { findSnapshot, publish } from '../../hub/database/snapshots/snapshots.ts';
import { findTarget } from '../../hub/database/targets/targets.ts';
import type { Decision } from '../../hub/permissions/access.ts';
import { type ImageManifest, signImage } from '../../src/repository/images/image-manifest.ts';
import { manifestText } from '../../src/repository/manifest/manifest.ts';
import { putStorageProfile, putTarget, type Received, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { trials } from '../helpers/trials.ts';

const matrix = trials('authorization/matrix');

/** The table that people read; `.ci/generate.mjs --check` compares it with the declarations. */
const TABLE = readAccessTable(readFileSync(new URL('../../docs/hub.md', import.meta.url), 'utf8'));

const ALL_RELATIONS = Object.keys(RELATIONS) as Relation[];

/** Tokens that are none. */
const REFUSED_TOKENS = ['none', 'unknown', 'expired', 'revoked', 'disabled user'] as const;

/**
 * Status of a request that is let in. 412: the target of the creation exists, 409: it has snapshots, or the profile has
 * targets; 422: the request is refused for its content.
 */
const LET_IN: Record<Operation, number> = {
  ...{ root: 200, openapi: 200, createSession: 401, endSession: 204, me: 200 },
  ...{ listTargets: 200, getTarget: 200, putTarget: 200, 'putTarget (create)': 412, deleteTarget: 409 },
  ...{ getRetention: 200, getTargetSecrets: 200, listSnapshots: 200, getSnapshot: 200, publishSnapshot: 422 },
  ...{ getImage: 200, publishImage: 422 },
  ...{
    annotateSnapshot: 204,
    removeSnapshot: 204,
    requestUploads: 200,
    verifyUploads: 200,
    requestDownloads: 200,
    reportObjects: 200,
    reportRestore: 204,
  },
  ...{ requestBuild: 201, claimBuild: 200, heartbeatBuild: 204, finishBuild: 204, getBuild: 200 },
  ...{ listStorageProfiles: 200, getStorageProfile: 200, putStorageProfile: 200, deleteStorageProfile: 409 },
  ...{ checkStorageProfile: 200, listTokens: 200, createToken: 201, revokeToken: 204, listUsers: 200, updateUser: 200 },
  listAuditEvents: 200,
};

const OBJECT = 'a'.repeat(64);

/** Beside the published one. */
const IMAGE = '15-linux-x64';

describeWithPostgres('permissions of the hub', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    let bystander: string;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub({ memberGroups: ['developers', 'other developers'] }), startS3()]);
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
        event: { by: HUB, action: 'snapshot.publish' },
        store: async () => {},
      });
      if (!sanitized) return id;
      const snapshot = await findSnapshot(db, { targetId: found.id, originals: true, id });
      if (!snapshot) throw new Error('The snapshot is missing');
      await publishImage(db, {
        ...{ snapshot, name: IMAGE, sha256s: [OBJECT], manifestSha256: OBJECT },
        manifestKey: `snapshots/image+${target}/20260101T000000000Z-${id}.json`,
        event: { by: HUB, action: 'image.publish' },
        ...{ permit: async () => {}, store: async () => {} },
      });
      return id;
    }

    async function tokenOf(relation: Relation, targetId: string): Promise<string | undefined> {
      const person = async (groups: string[]): Promise<string> =>
        (await hub.person(`${relation} ${randomUUID()}`, groups)).token;
      switch (relation) {
        case 'no token':
          return undefined;
        case 'other team':
          return person([]);
        case 'reader':
          return person(['readers']);
        case 'originals':
          return person(['original readers']);
        case 'member':
          return person(['other developers']);
        case 'builder':
          return person(['developers']);
        case 'owner':
        case 'removed target':
          return person(['owners']);
        case 'auditor':
          return person(['auditors']);
        case 'builder token':
        case 'agent':
          return (await hub.service('ci', 'builder', [targetId])).token;
        case 'other token':
          return (await hub.service('ci', 'builder', [randomUUID()])).token;
        case 'reader token':
          return (await hub.service('job', 'reader', [targetId])).token;
        default:
          return relation satisfies never;
      }
    }

    async function refusedToken(kind: (typeof REFUSED_TOKENS)[number]): Promise<string | undefined> {
      const owner = (options = {}) => hub.person(`${kind} ${randomUUID()}`, ['owners'], options);
      switch (kind) {
        case 'none':
          return undefined;
        case 'unknown':
          return `toolhub_${'x'.repeat(43)}`;
        case 'expired':
          return (await owner({ hours: -1 })).token;
        case 'revoked': {
          const { token } = await owner();
          await hub.send('DELETE', '/sessions/current', { token });
          return token;
        }
        case 'disabled user': {
          const { token, userId } = await owner();
          await hub.send('PATCH', `/users/${userId}`, { token: hub.ownerToken, body: { disabled: true } });
          return token;
        }
        default:
          return kind satisfies never;
      }
    }

    interface Case {
      path: string;
      body?: unknown;
      headers?: Record<string, string>;
    }

    /** Names in a request: the target, and the build that an agent has claimed. */
    interface Named {
      name: string;
      snapshot: string;
      build: string;
      lease: string;
    }

    /** A request of this operation that is right but for the caller. */
    async function caseOf(operation: Operation, { name, snapshot, build, lease }: Named): Promise<Case> {
      const route = routeOf(operation);
      const profile = route.path.startsWith('/storage_profiles');
      const service = operation === 'revokeToken' ? (await hub.service('other', 'reader', [])).id : bystander;
      const path = route.path
        .replace('{name}', profile ? 'team' : name)
        .replace('{snapshot}', snapshot)
        .replace('{image}', IMAGE)
        .replace('{id}', route.path.startsWith('/builds/') ? build : service)
        // An owner has more targets than a page.
        .replace(/^\/targets$/, `/targets?q=${name}`);
      const objects = [{ sha256: 'b'.repeat(64), stored_sha256: 'c'.repeat(64), stored_bytes: 10 }];
      const settings = { settings: { name: 'Changed', sso_groups: ['readers'] }, builder_groups: ['developers'] };
      const bodies: Partial<Record<Operation, unknown>> = {
        createSession: { id_token: 'none.of.ours' },
        ...{ putTarget: settings, 'putTarget (create)': settings },
        publishSnapshot: '{"format":1}',
        publishImage: '{"format":1}',
        annotateSnapshot: { note: 'seen' },
        requestUploads: { sanitized: false, objects },
        verifyUploads: { sanitized: false, objects: [{ sha256: 'd'.repeat(64) }] },
        requestDownloads: { objects: [OBJECT] },
        reportObjects: { objects: [OBJECT] },
        ...{ reportRestore: {}, requestBuild: {} },
        claimBuild: { targets: [name] },
        heartbeatBuild: { lease },
        finishBuild: { lease, outcome: 'failed', code: 'dump_failed', message: 'No space' },
        putStorageProfile: { settings: profile ? await currentProfile() : {} },
        createToken: { name: 'ci', role: 'builder', targets: [shared.name], expires_in_days: 1 },
        updateUser: { disabled: false },
      };
      const revision = profile ? await profileRevision() : 1;
      const creates = operation === 'putTarget (create)';
      const condition = creates ? { 'if-none-match': '*' } : { 'if-match': `"${revision}"` };
      return { path, body: bodies[operation], ...(route.conditional && { headers: condition }) };
    }

    async function currentProfile(): Promise<object> {
      const { body } = await hub.send('GET', '/storage_profiles/team', { token: hub.ownerToken });
      return { ...body.settings, access_key: 'testaccess', secret_key: 'testsecret123' };
    }

    async function profileRevision(): Promise<number> {
      return (await hub.send('GET', '/storage_profiles/team', { token: hub.ownerToken })).body.revision;
    }

    /** A build of the target that this caller has claimed. */
    async function claimedBuild(target: string, callerId: string): Promise<{ build: string; lease: string }> {
      const owner = { token: hub.ownerToken };
      await hub.send('POST', `/targets/${target}/builds`, { ...owner, body: {} });
      const { body } = await hub.send('POST', '/builds/claim', { ...owner, body: { targets: [target] } });
      const { id, lease } = body.build;
      await hub.database.db.updateTable('builds').set({ caller_id: callerId }).where('lease', '=', lease).execute();
      return { build: id, lease };
    }

    /** Operations that change the state for the next request, or need another one. */
    const CHANGING: Operation[] = [
      'endSession',
      'putTarget',
      'putTarget (create)',
      'removeSnapshot',
      'requestBuild',
      'finishBuild',
    ];

    interface Surroundings extends Named {
      id: string;
      token: string | undefined;
    }

    async function surround(relation: Relation, { builds = true } = {}): Promise<Surroundings> {
      const { name, id, sanitized } = await makeTarget();
      const token = await tokenOf(relation, id);
      const { body: me } = await hub.send('GET', '/me', { token: relation === 'agent' ? token : hub.ownerToken });
      // The agent is another one, unless the caller is it.
      const caller = relation === 'agent' ? me.id : randomUUID();
      const claimed = builds ? await claimedBuild(name, caller) : { build: randomUUID(), lease: randomUUID() };
      if (relation === 'removed target') {
        await hub.database.db.updateTable('targets').set({ removed_at: new Date() }).where('id', '=', id).execute();
      }
      return { name, id, snapshot: sanitized, token, ...claimed };
    }

    let shared: Awaited<ReturnType<typeof makeTarget>>;

    beforeAll(async () => {
      shared = await makeTarget();
    });

    /** Derives the decision from the answer, or returns the status. */
    function decisionOf(operation: Operation, { status, body }: Received, { name }: Named): Decision | string {
      if (operation === 'listTargets' && status === 200) {
        return body.items.some((item: { name: string }) => item.name === name) ? 'permitted' : 'omitted';
      }
      if (operation === 'claimBuild' && status === 200) return body.refused.includes(name) ? 'omitted' : 'permitted';
      const isPublic = routeOf(operation).access === 'public';
      if (status === 401 && !isPublic) return 'token required';
      const created = operation === 'putTarget (create)' && status === 201;
      if (status === LET_IN[operation] || created) return 'permitted';
      if (status === 403) return 'refused';
      if (status === 404 || (operation === 'putTarget' && status === 412)) return 'unknown';
      return `${status}`;
    }

    /** An answer without what differs between two requests. */
    function comparable({ status, text, headers }: Received, { name, snapshot }: Named): object {
      const plain = text.replaceAll(name, 'NAME').replaceAll(snapshot, 'SNAPSHOT');
      const names = [...headers.keys()].filter((key) => !['connection', 'keep-alive'].includes(key)).sort();
      return { status, names, text: plain.replace(/"request_id":"[^"]+"/, '') };
    }

    test.each([
      ['reader', null],
      ['originals', 'team'],
      ['builder', 'team'],
      ['owner', 'team'],
      ['reader token', null],
      ['builder token', 'team'],
    ] as const)(
      '%s is told the storage profile of originals as %j, and that of sanitized snapshots',
      async (who, originals) => {
        const { token, name } = await surround(who);
        const [one, list] = [
          await hub.send('GET', `/targets/${name}`, { token }),
          await hub.send('GET', `/targets?q=${name}`, { token }),
        ];
        const storage_profiles = { originals, sanitized: 'team' };
        expect(one.body).toMatchObject({ storage_profiles });
        expect(list.body.items).toMatchObject([{ name, storage_profiles }]);
      },
    );

    test(
      matrix.title('every operation answers every kind of caller as docs/hub.md says'),
      async () => {
        await matrix.each(async () => {
          const found: Record<string, Record<string, string>> = {};
          for (const relation of ALL_RELATIONS) {
            const lasting = await surround(relation);
            for (const operation of OPERATIONS) {
              const builds = operation !== 'requestBuild';
              const named = CHANGING.includes(operation) ? await surround(relation, { builds }) : lasting;
              const { token } = named;
              const { path, ...rest } = await caseOf(operation, named);
              const { method } = routeOf(operation);
              const answer = await hub.send(method, path, { token, ...rest });
              const decision = decisionOf(operation, answer, named);
              found[operation] = { ...found[operation], [relation]: decision };
              const where = `${operation} by ${relation}`;
              if (operation !== 'getTargetSecrets') expect(answer.text, where).not.toContain('very-secret');
              expect(answer.text, where).not.toContain('testsecret123');
              if (decision !== 'unknown') continue;
              const missing = { name: 'nowhere', snapshot: '00000000', build: randomUUID(), lease: randomUUID() };
              const other = await caseOf(operation, missing);
              const expected = await hub.send(method, other.path, {
                token,
                body: other.body,
                headers: other.headers ?? {},
              });
              expect(comparable(answer, named), where).toEqual(comparable(expected, missing));
            }
          }
          expect(found).toEqual(TABLE);
        });
      },
      matrix.timeout,
    );

    test('every operation refuses a token that is none', async () => {
      for (const kind of REFUSED_TOKENS) {
        const token = await refusedToken(kind);
        const named = { name: shared.name, snapshot: shared.sanitized, build: randomUUID(), lease: randomUUID() };
        for (const operation of OPERATIONS) {
          const { path, ...rest } = await caseOf(operation, named);
          const answer = await hub.send(routeOf(operation).method, path, { token, ...rest });
          const found = decisionOf(operation, answer, named);
          expect(found, `${operation} with ${kind}`).toBe(TABLE[operation]['no token']);
        }
      }
    });

    test('a request that is not permitted has the same answer and audit event, whatever else is wrong with it', async () => {
      for (const relation of ALL_RELATIONS) {
        const named = await surround(relation);
        const { token, name } = named;
        for (const operation of OPERATIONS) {
          const decision = TABLE[operation][relation];
          // A target that the caller may not read is written as one that does not exist.
          const isFreeName = operation.startsWith('putTarget') && (decision === 'unknown' || relation === 'member');
          if (decision === 'permitted' || decision === 'omitted' || isFreeName) continue;
          const { path, body, headers = {} } = await caseOf(operation, named);
          const { method } = routeOf(operation);
          const send = async (wrong: { path?: string; body?: unknown; headers?: Record<string, string> }) =>
            comparable(await hub.send(method, wrong.path ?? path, { token, body, headers, ...wrong }), named);
          const refusals = () => countRefusals(`${method} ${routeOf(operation).path}`);
          const before = await refusals();
          const expected = await send({});
          const counted = (await refusals()) - before;
          const wrong: Record<string, Parameters<typeof send>[0]> = {
            'an unknown parameter': { path: `${path}?surprise=1` },
            ...(body !== undefined && {
              'malformed JSON': { body: '{' },
              'an unknown field': { body: { surprise: 1 } },
              'another type': { headers: { ...headers, 'content-type': 'text/plain' } },
            }),
            ...(routeOf(operation).conditional && { 'no condition': { headers: {} } }),
          };
          for (const [what, change] of Object.entries(wrong)) {
            const where = `${operation} by ${relation} of ${name} with ${what}`;
            const earlier = await refusals();
            expect(await send(change), where).toEqual(expected);
            expect((await refusals()) - earlier, where).toBe(counted);
          }
          expect(counted, `${operation} by ${relation}`).toBe(decision === 'refused' ? 1 : 0);
        }
      }
    });

    test('a member who reads a target, and may not change it, is refused whatever the body is', async () => {
      const { name } = await makeTarget();
      const { token } = await hub.person('mira', ['other developers', 'readers']);
      for (const body of [{ settings: {} }, { surprise: 1 }, '{']) {
        const sent = { token, body, headers: { 'if-match': '"1"' } };
        expect((await hub.send('PUT', `/targets/${name}`, sent)).status).toBe(403);
      }
      const { body } = await hub.send('GET', '/audit_events?actor=mira', { token: hub.ownerToken });
      expect(body.items).toMatchObject(
        Array(3).fill({ action: 'PUT /targets/{name}', target: name, outcome: 'refused' }),
      );
    });

    async function countRefusals(action: string): Promise<number> {
      const { count } = await hub.database.db
        .selectFrom('audit_events')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('outcome', '=', 'refused')
        .where('action', '=', action)
        .executeTakeFirstOrThrow();
      return count;
    }

    test('an operation or a relation without an expectation fails', () => {
      expect(Object.keys(TABLE).sort()).toEqual([...OPERATIONS].sort());
      for (const row of Object.values(TABLE)) expect(Object.keys(row)).toEqual(ALL_RELATIONS);
      for (const row of Object.values(TABLE)) expect(Object.values(row)).not.toContain(undefined);
    });

    const WRITING = OPERATIONS.filter((operation) => {
      const { access, method } = routeOf(operation);
      const isOfTarget = typeof access === 'object' && 'target' in access && access.target !== 'read';
      return isOfTarget && operation !== 'putTarget (create)' && (method !== 'GET' || operation === 'getTargetSecrets');
    });

    test.each(
      WRITING.flatMap((operation) =>
        (['the groups change', 'the target is removed'] as const).map((change) => ({ operation, change })),
      ),
    )('$operation is refused when $change after the first check', async (given) => {
      const { operation, change } = given;
      const named = await surround('builder', { builds: operation !== 'requestBuild' });
      const { path, body, headers = {} } = await caseOf(operation, named);
      const { token, id } = named;
      const contents: Partial<Record<Operation, string>> = {
        publishSnapshot: publishable(named),
        publishImage: publishableImage(named),
      };
      const content = contents[operation] ?? body;
      const lock = openDatabase(hub.settings.databaseUrl);
      const changed = await lock.db.transaction().execute(async (transaction) => {
        await transaction.selectFrom('targets').select('id').where('id', '=', id).forUpdate().execute();
        const removed =
          change === 'the target is removed' ? { removed_at: new Date() } : { builder_groups: ['others'] };
        await transaction.updateTable('targets').set(removed).where('id', '=', id).execute();
        const answer = hub.send(routeOf(operation).method, path, { token, body: content, headers });
        await eventually(async () => {
          const { rows } = await sql<{ waits: boolean }>`SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)
            AS waits`.execute(hub.database.db);
          return rows[0]?.waits === true;
        });
        return { answer };
      });
      const { status } = await changed.answer;
      await lock[Symbol.asyncDispose]();
      expect(status).toBe(operation === 'putTarget' ? 412 : 404);
      const after = await hub.database.db
        .selectFrom('audit_events')
        .selectAll()
        .where('target', '=', named.name)
        .execute();
      const done = after.filter(({ outcome, actor }) => outcome === 'done' && actor.startsWith('builder'));
      expect(done).toEqual([]);
    });

    /** A manifest whose objects are stored. */
    function publishable({ name, snapshot }: Named): string {
      const files = [{ name: '0.dat', sha256: OBJECT, bytes: 1, stored_bytes: 1 }];
      return manifestText({
        ...{ format: 1, id: snapshot, target: name, created_at: new Date().toISOString(), engine: 'postgres' },
        ...{
          server_version: '15.18',
          tool_version: 'pg_dump 15.18',
          sanitized: false,
          note: null,
          schemas: ['public'],
        },
        ...{ tables: [], files, added_bytes: 0, details: {} },
      });
    }

    function publishableImage({ name, snapshot }: Named): string {
      const image: Omit<ImageManifest, 'signature'> = {
        ...{ format: 1, target: name, snapshot, created_at: '2026-01-01T00:00:00.000Z', engine: 'postgres' },
        ...{ database: 'app', version: '15.18', platform: 'linux', architecture: 'x64', collations: '' },
        ...{ extensions: [], folders: [], files: [], chunks: [] },
      };
      return JSON.stringify(signImage(image, generateKeyPairSync('ed25519').privateKey));
    }

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

    test('resources that a caller may not read answer like missing ones', async () => {
      const target = await makeTarget();
      const { token } = await hub.person('zoe', []);
      const hidden = await hub.send('GET', `/targets/${target.name}`, { token });
      const missing = await hub.send('GET', '/targets/nowhere', { token });
      const of = (name: string) => ({ name, snapshot: 'none', build: '', lease: '' });
      expect(comparable(hidden, of(target.name))).toEqual(comparable(missing, of('nowhere')));
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
      for (const caller of ALL_RELATIONS.filter((one) => !['no token', 'removed target'].includes(one))) {
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

    test('a token names no target that was removed, to its holder and in the list of tokens', async () => {
      const [kept, gone] = [await makeTarget(), await makeTarget()];
      const { token, id } = await hub.service('both', 'builder', [kept.id, gone.id]);
      await hub.database.db.updateTable('targets').set({ removed_at: new Date() }).where('id', '=', gone.id).execute();
      expect((await hub.send('GET', '/me', { token })).body.targets).toEqual([kept.name]);
      const { body } = await hub.send('GET', '/tokens?limit=200', { token: hub.ownerToken });
      expect(body.items).toContainEqual(expect.objectContaining({ id, targets: [kept.name] }));
    });

    test('a refusal is in the audit', async () => {
      const { token } = await hub.person('eve', []);
      await hub.send('GET', '/tokens', { token });
      const { body } = await hub.send('GET', '/audit_events?actor=eve', { token: hub.ownerToken });
      expect(body.items).toMatchObject([{ actor: 'eve', action: 'GET /tokens', outcome: 'refused' }]);
    });
  });
});
