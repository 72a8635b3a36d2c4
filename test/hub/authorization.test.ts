import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { HUB } from '../../hub/database/audit.ts';
import { publish } from '../../hub/database/snapshots/snapshots.ts';
import { fc } from '../helpers/fast-check.ts';
import { putStorageProfile, type Received, startHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { trials } from '../helpers/trials.ts';

const sequences = trials('authorization/sequences');

/** Six roles. Members of the teams `red` and `blue` manage the targets that name their team, or none. */
const ROLES = ['owner', 'red member', 'blue member', 'reader', 'auditor', 'builder token'] as const;
type Role = (typeof ROLES)[number];

const GROUPS: Record<Exclude<Role, 'builder token'>, string[]> = {
  owner: ['owners'],
  'red member': ['members', 'red'],
  'blue member': ['members', 'blue'],
  reader: ['readers'],
  auditor: ['auditors'],
};

const NAMES = ['one', 'two'] as const;
const PROFILES = ['open', 'of red', 'of owners', 'nowhere'] as const;

/** Who may use a profile besides owners. */
const PROFILE_ROLES: Record<(typeof PROFILES)[number], Role[]> = {
  open: ['red member', 'blue member'],
  'of red': ['red member'],
  'of owners': [],
  nowhere: [],
};

/** A target as the model knows it. */
interface TargetModel {
  revision: number;
  builders: ('red' | 'blue')[];
  readers: boolean;
  profile: string | null;
  /** Every text of the target that only some may read. */
  secret: string;
  originals: string[];
  sanitized: string[];
  /** The round's builder token is for this target. */
  hasToken: boolean;
  removed: boolean;
}

type Right = 'read' | 'originals' | 'push' | 'change';

/** The rules in a few lines, written apart from the hub's. */
function rightsOf(role: Role, target: TargetModel | undefined): Right[] {
  const all: Right[] = ['read', 'originals', 'push', 'change'];
  if (!target || target.removed) return [];
  return ownRights(role, target, all);
}

function ownRights(role: Role, target: TargetModel, all: Right[]): Right[] {
  switch (role) {
    case 'owner':
      return all;
    case 'red member':
    case 'blue member': {
      const team = role === 'red member' ? 'red' : 'blue';
      return target.builders.length === 0 || target.builders.includes(team) ? all : [];
    }
    case 'reader':
      return target.readers ? ['read'] : [];
    case 'builder token':
      return target.hasToken ? ['read', 'push'] : [];
    case 'auditor':
      return [];
    default:
      return role satisfies never;
  }
}

const role = fc.constantFrom(...ROLES);
const name = fc.constantFrom(...NAMES);
const builders = fc.constantFrom<('red' | 'blue')[]>([], ['red'], ['blue'], ['red', 'blue']);
const profile = fc.constantFrom(...PROFILES, null);
const content = fc.record({ builders, readers: fc.boolean(), profile, keeps: fc.boolean() });

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('create' as const), role, name, content }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('change' as const), role, name, content }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), role, name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('grant' as const), role, name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('snapshot' as const), role, name, sanitized: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('get', 'secrets', 'list', 'snapshots'), role, name }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('manifest', 'download'), role, name, at: fc.nat(5) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('annotate', 'remove snapshot'), role, name, at: fc.nat(5) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('upload', 'build', 'claim'), role, name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('tokens', 'profiles', 'users', 'audit'), role, name }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const OBJECT = 'a'.repeat(64);

describeWithPostgres('requests of six roles', () => {
  const hub = suiteResource(() =>
    startHub({ memberGroups: ['members'], ownerGroups: ['owners'], auditorGroups: ['auditors'] }),
  );
  const tokens = new Map<Role, string>();

  beforeAll(async () => {
    const bucket = { provider: 'minio', bucket: 'b', endpoint: 'http://127.0.0.1:1', access_key: 'k', secret_key: 's' };
    for (const one of ['open', 'of red', 'of owners']) await putStorageProfile(hub, one, bucket);
    const { db } = hub.database;
    for (const [one, groups] of [
      ['of red', ['red']],
      ['of owners', []],
    ] as const) {
      await db
        .updateTable('storage_profiles')
        .set({ target_groups: [...groups] })
        .where('name', '=', one)
        .execute();
    }
    for (const [one, groups] of Object.entries(GROUPS)) {
      tokens.set(one as Role, (await hub.person(one, groups)).token);
    }
  });

  /** One sequence on names of its own. */
  async function run(steps: Step[]): Promise<void> {
    const round = randomUUID().slice(0, 8);
    const model = new Map<string, TargetModel>();
    const service = await hub.service('ci', 'builder', []);
    const own = new Map(tokens).set('builder token', service.token);
    const token = (one: Role): string => own.get(one) ?? '';
    const fullName = (one: string): string => `${one}-${round}`;
    const idOf = async (one: string): Promise<string> => {
      const { body } = await hub.send('GET', `/targets/${fullName(one)}`, { token: hub.ownerToken });
      return body.id;
    };

    async function take(given: Step): Promise<void> {
      const { role: by } = given;
      const target = model.get(given.name);
      const rights = rightsOf(by, target);
      const path = `/targets/${fullName(given.name)}`;
      const send = (method: string, rest = '', options = {}): Promise<Received> =>
        hub.send(method, `${path}${rest}`, { token: token(by), ...options });
      /** The status for a right: what permits it, 403 where the target may be read, or else 404. */
      const needs = (right: Right, status: number): number =>
        rights.includes(right) ? status : rights.includes('read') ? 403 : 404;
      const expectAnswer = (answer: Received, status: number): void => {
        expect(answer.status, `${JSON.stringify(given)} ${answer.text}`).toBe(status);
        for (const [one, other] of model) {
          const may = rightsOf(by, other);
          if (!may.includes('change') && !may.includes('push')) expect(answer.text).not.toContain(other.secret);
          if (!may.includes('originals'))
            for (const id of other.originals) expect(answer.text).not.toContain(`"${id}"`);
          // Auditors read names, and the request repeats its own.
          if (!may.includes('read') && one !== given.name && by !== 'auditor') {
            expect(answer.text).not.toContain(fullName(one));
          }
        }
      };
      const mayCreate = by === 'owner' || by === 'red member' || by === 'blue member';

      switch (given.kind) {
        case 'create':
        case 'change': {
          const { content: wanted } = given;
          const secret = `password-${randomUUID()}`;
          const isKept = wanted.keeps && given.kind === 'change';
          const src_url = `postgres://app${isKept ? '' : `:${secret}`}@db.example.com/orders`;
          const settings = {
            ...{ snapshot: { src_url }, sanitize: { override_query: 'SELECT 1' } },
            ...(wanted.profile !== null && { storage_profile: wanted.profile }),
            ...(wanted.readers && { sso_groups: ['readers'] }),
          };
          const headers =
            given.kind === 'create' ? { 'if-none-match': '*' } : { 'if-match': `"${target?.revision ?? 1}"` };
          const answer = await send('PUT', '', { body: { settings, builder_groups: wanted.builders }, headers });
          const isVisible = rights.includes('read');
          const profileOk =
            wanted.profile === null ||
            (by === 'owner' && wanted.profile !== 'nowhere') ||
            PROFILE_ROLES[wanted.profile].includes(by) ||
            (isVisible && target?.profile === wanted.profile);
          const isTaken = target !== undefined && !ownRights(by, target, ['change']).includes('change');
          const status = !mayCreate
            ? 403
            : !profileOk
              ? 422
              : given.kind === 'change'
                ? isVisible
                  ? 200
                  : 412
                : isTaken
                  ? 403
                  : isVisible
                    ? 412
                    : 201;
          expectAnswer(answer, status);
          if (status !== 200 && status !== 201) return;
          const fresh = status === 201;
          model.set(given.name, {
            revision: answer.body.revision,
            ...{ builders: wanted.builders, readers: wanted.readers, profile: wanted.profile },
            secret: isKept && target && !fresh ? target.secret : secret,
            originals: fresh ? [] : (target?.originals ?? []),
            sanitized: fresh ? [] : (target?.sanitized ?? []),
            hasToken: fresh ? false : (target?.hasToken ?? false),
            removed: false,
          });
          return;
        }
        case 'remove': {
          const headers = { 'if-match': `"${target?.revision ?? 1}"` };
          const answer = await send('DELETE', '', { headers });
          const isFull = target !== undefined && target.originals.length + target.sanitized.length > 0;
          expectAnswer(answer, needs('change', isFull ? 409 : 204));
          if (answer.status === 204 && target) target.removed = true;
          return;
        }
        case 'grant': {
          if (!target || target.removed) return;
          const { db } = hub.database;
          const id = await idOf(given.name);
          const { target_ids } = await db
            .selectFrom('tokens')
            .select('target_ids')
            .where('id', '=', service.id)
            .executeTakeFirstOrThrow();
          await db
            .updateTable('tokens')
            .set({ target_ids: [...(target_ids ?? []), id] })
            .where('id', '=', service.id)
            .execute();
          // The hub remembers a caller for ten seconds; a revocation forgets them all.
          const other = await hub.service('other', 'reader', []);
          await hub.send('DELETE', `/tokens/${other.id}`, { token: hub.ownerToken });
          target.hasToken = true;
          return;
        }
        case 'snapshot': {
          if (!target || target.removed) return;
          const id = randomUUID().slice(0, 8);
          await makeSnapshot(given.name, { id, sanitized: given.sanitized });
          target[given.sanitized ? 'sanitized' : 'originals'].push(id);
          return;
        }
        case 'get': {
          const answer = await send('GET');
          expectAnswer(answer, needs('read', 200));
          if (answer.status !== 200 || !target) return;
          const names: Record<string, Right> = {
            read: 'read',
            read_originals: 'originals',
            push: 'push',
            change: 'change',
          };
          const found = answer.body.permissions.flatMap((one: string) => names[one] ?? []);
          expect(found.sort()).toEqual([...rights].sort());
          const visible = rights.includes('originals') ? target.originals.length : 0;
          expect(answer.body.snapshots).toBe(target.sanitized.length + visible);
          return;
        }
        case 'secrets': {
          const answer = await send('GET', '/secrets');
          expectAnswer(answer, needs('push', 200));
          if (answer.status === 200) expect(answer.text).toContain(target?.secret);
          return;
        }
        case 'list': {
          const answer = await hub.send('GET', `/targets?q=${round}`, { token: token(by) });
          expectAnswer(answer, 200);
          const visible = NAMES.filter((one) => rightsOf(by, model.get(one)).includes('read'));
          const found = answer.body.items.map((item: { name: string }) => item.name);
          expect(found).toEqual(visible.map(fullName).sort());
          return;
        }
        case 'snapshots': {
          const answer = await send('GET', '/snapshots');
          expectAnswer(answer, needs('read', 200));
          if (answer.status !== 200 || !target) return;
          const visible = [...target.sanitized, ...(rights.includes('originals') ? target.originals : [])];
          expect(answer.body.items.map(({ id }: { id: string }) => id).sort()).toEqual(visible.sort());
          return;
        }
        case 'manifest':
        case 'download':
        case 'annotate':
        case 'remove snapshot': {
          const all = [...(target?.originals ?? []), ...(target?.sanitized ?? [])];
          const id = all[given.at % Math.max(all.length, 1)] ?? '00000000';
          const isThere = all.includes(id) && (rights.includes('originals') || target?.sanitized.includes(id) === true);
          const rest = `/snapshots/${id}`;
          const found = (right: Right, status: number): number => {
            const needed = needs(right, status);
            return needed === status && !isThere ? 404 : needed;
          };
          if (given.kind === 'manifest') expectAnswer(await send('GET', rest), found('read', 200));
          else if (given.kind === 'download') {
            expectAnswer(await send('POST', `${rest}/downloads`, { body: { objects: [OBJECT] } }), found('read', 200));
          } else if (given.kind === 'annotate') {
            expectAnswer(await send('PATCH', rest, { body: { note: 'seen' } }), found('change', 204));
          } else {
            const answer = await send('DELETE', rest);
            expectAnswer(answer, found('change', 204));
            if (answer.status !== 204 || !target) return;
            target.originals = target.originals.filter((one) => one !== id);
            target.sanitized = target.sanitized.filter((one) => one !== id);
          }
          return;
        }
        case 'upload': {
          const objects = [{ sha256: 'b'.repeat(64), stored_sha256: 'c'.repeat(64), stored_bytes: 10 }];
          const answer = await send('POST', '/uploads', { body: { sanitized: false, objects } });
          expectAnswer(answer, needs('push', target?.profile == null ? 422 : 200));
          return;
        }
        case 'build': {
          const answer = await send('POST', '/builds', { body: {} });
          if (answer.status === 200) expectAnswer(answer, needs('push', 200));
          else expectAnswer(answer, needs('push', 201));
          return;
        }
        case 'claim': {
          const targets = NAMES.map(fullName);
          const answer = await hub.send('POST', '/builds/claim', { token: token(by), body: { targets } });
          expect(answer.status).toBe(200);
          const refused = NAMES.filter((one) => !rightsOf(by, model.get(one)).includes('push')).map(fullName);
          expect(answer.body.refused.sort()).toEqual(refused.sort());
          const { build } = answer.body;
          if (build === null) return;
          expect(refused).not.toContain(build.target);
          const failed = { lease: build.lease, outcome: 'failed', code: 'dump_failed', message: 'No space' };
          const others = ROLES.filter((one) => one !== by);
          for (const one of others) {
            const other = await hub.send('POST', `/builds/${build.id}/finish`, { token: token(one), body: failed });
            expect(other.status).toBe(404);
          }
          const ended = await hub.send('POST', `/builds/${build.id}/finish`, { token: token(by), body: failed });
          expect(ended.status).toBe(204);
          return;
        }
        case 'tokens':
        case 'profiles':
        case 'users':
        case 'audit': {
          const paths = { tokens: '/tokens', profiles: '/storage_profiles', users: '/users', audit: '/audit_events' };
          const answer = await hub.send('GET', `${paths[given.kind]}?limit=5`, { token: token(by) });
          const may = by === 'owner' || (given.kind === 'audit' && by === 'auditor');
          expect(answer.status).toBe(may ? 200 : 403);
          return;
        }
        default:
          given satisfies never;
      }
    }

    for (const given of steps) await take(given);

    async function makeSnapshot(one: string, { id, sanitized }: { id: string; sanitized: boolean }): Promise<void> {
      const { db } = hub.database;
      const target_id = await idOf(one);
      const { id: profile_id } = await db
        .selectFrom('storage_profiles')
        .select('id')
        .where('name', '=', 'open')
        .executeTakeFirstOrThrow();
      const object = { sha256: OBJECT, stored_sha256: OBJECT, stored_bytes: 1, state: 'stored' } as const;
      await db
        .insertInto('objects')
        .values({ target_id, profile_id, ...object })
        .onConflict((on) => on.doNothing())
        .execute();
      await publish(db, {
        ...{ targetId: target_id, profileId: profile_id, sha256s: [OBJECT], manifestSha256: OBJECT },
        headline: {
          ...{ target: fullName(one), id, created_at: new Date().toISOString(), sanitized, engine: 'postgres' },
          ...{ server_version: '15', schemas: [], tables: 0, rows: 0, size_bytes: 0, stored_bytes: 0, note: null },
        },
        manifestKey: `snapshots/${fullName(one)}/${id}.json`,
        event: { by: HUB, action: 'snapshot.publish' },
        store: async () => {},
      });
    }
  }

  test(
    sequences.title('random requests are answered as a model says, and nothing forbidden is in an answer'),
    () =>
      sequences.each(({ run: once }) =>
        fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), run), once),
      ),
    sequences.timeout,
  );
});
