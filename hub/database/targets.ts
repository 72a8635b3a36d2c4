import type { BlockList } from 'node:net';
import { sql } from 'kysely';
import type { Schedule, Webhook } from '../../src/cloud/contract/builds.ts';
import type { Keep } from '../../src/cloud/contract/retention.ts';
import type { Fingerprints, Permission, TargetBody, TargetSettings } from '../../src/cloud/contract/schemas.ts';
import { URL_KEYS, withoutPassword } from '../../src/cloud/contract/url-password.ts';
import { shownWebhook } from '../../src/cloud/contract/webhook.ts';
import { type Caller, mayUseProfile, permissionsOn, type Subject } from '../access.ts';
import { refuseLinkLocalAddress, refusePrivateAddress } from '../objects/reach.ts';
import { Problem } from '../problem.ts';
import type { HubSettings } from '../settings.ts';
import type { HubKey } from '../settings-values.ts';
import { type Condition, changedMeanwhile } from './condition.ts';
import type { Connection, Database } from './database.ts';
import { isLate } from './late.ts';
import { type Page, type PageQuery, pageOf } from './paging.ts';
import { removableSnapshots } from './retention.ts';
import {
  fingerprintsOf,
  knownFingerprints,
  readSecrets,
  removeSecrets,
  type SecretOwner,
  writeSecrets,
} from './secrets.ts';
import { isVisible, readsOriginals } from './visible-targets.ts';

export interface TargetRow {
  id: string;
  name: string;
  settings: Record<string, unknown>;
  applied: Record<string, unknown> | null;
  original_profile_id: string | null;
  sanitized_profile_id: string | null;
  reader_groups: string[];
  original_groups: string[];
  builder_groups: string[];
  trusted_keys: string[] | null;
  expected_every: string | null;
  schedule: Schedule | null;
  pool: string | null;
  webhook_url: string | null;
  webhook_private: boolean;
  keep: Keep | null;
  revision: number;
}

const COLUMNS = [
  'id',
  'name',
  'settings',
  'applied',
  'original_profile_id',
  'sanitized_profile_id',
  'reader_groups',
  'original_groups',
  'builder_groups',
  'trusted_keys',
  'expected_every',
  'schedule',
  'pool',
  'webhook_url',
  'webhook_private',
  'keep',
  'revision',
] as const;

export async function findTarget(db: Connection, name: string): Promise<TargetRow | null> {
  const row = await db
    .selectFrom('targets')
    .select(COLUMNS)
    .where('name', '=', name)
    .where('removed_at', 'is', null)
    .executeTakeFirst();
  return row ?? null;
}

/**
 * The target as it is now. Neither it nor its groups change until the transaction ends: every change locks the row for
 * update first. `change` also excludes others that share the lock.
 */
export async function lockTarget(db: Connection, id: string, lock: 'share' | 'change'): Promise<TargetRow | null> {
  const query = db.selectFrom('targets').select(COLUMNS).where('id', '=', id).where('removed_at', 'is', null);
  const row = await (lock === 'share' ? query.forKeyShare() : query.forUpdate()).executeTakeFirst();
  return row ?? null;
}

/** The target that has the name, or else the last one that had it, locked for a change. */
async function lockName(db: Connection, name: string): Promise<{ holder: TargetRow | null; target: TargetRow | null }> {
  const row = await db
    .selectFrom('targets')
    .select([...COLUMNS, 'removed_at'])
    .where('name', '=', name)
    .orderBy('removed_at', (order) => order.desc().nullsFirst())
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
  if (!row) return { holder: null, target: null };
  const { removed_at, ...holder } = row;
  return { holder, target: removed_at === null ? holder : null };
}

export function findTargets(db: Connection, names: string[]): Promise<TargetRow[]> {
  return db.selectFrom('targets').select(COLUMNS).where('name', 'in', names).where('removed_at', 'is', null).execute();
}

/** Snapshots that the caller may read, and the age of the newest. */
interface SnapshotCounts {
  snapshots: number;
  last_snapshot_at: Date | null;
  late: boolean;
}

const LISTED = ['id', 'name', 'settings', 'reader_groups', 'original_groups', 'builder_groups', 'revision'] as const;

type ListedRow = Pick<TargetRow, (typeof LISTED)[number]> & SnapshotCounts;

/** Each target with its snapshots: one scan of an index for each, of originals or without them. */
function countedTargets(db: Connection, caller: Caller, now: Date) {
  const originals = readsOriginals(caller);
  const snapshots = sql`SELECT created_at FROM snapshots s WHERE s.target_id = targets.id AND s.removed_at IS NULL`;
  const counted = sql<Pick<SnapshotCounts, 'snapshots' | 'last_snapshot_at'>>`LATERAL (
    SELECT count(*) AS snapshots, max(created_at) AS last_snapshot_at
    FROM (${snapshots} AND ${originals} UNION ALL ${snapshots} AND s.sanitized AND NOT ${originals}) s)`;
  return db
    .selectFrom('targets')
    .innerJoin(counted.as('counted'), (join) => join.onTrue())
    .select(['counted.snapshots', 'counted.last_snapshot_at', isLate(now).as('late')]);
}

export async function listTargets(
  db: Database,
  caller: Caller,
  { q, now, ...paging }: PageQuery & { q?: string | undefined; now: Date },
): Promise<Page<ListedRow>> {
  let base = countedTargets(db, caller, now)
    .select(LISTED.map((column) => `targets.${column}` as const))
    .where(isVisible(caller))
    .orderBy('targets.name');
  if (q !== undefined) base = base.where(sql<boolean>`position(lower(${q}) in lower(targets.name)) > 0`);
  return pageOf<ListedRow>(paging, {
    keyOf: ({ name }) => [name],
    rows: (limit, after) => (after ? base.where('targets.name', '>', after[0] ?? '') : base).limit(limit).execute(),
  });
}

interface TargetAnswerOptions {
  caller: Caller;
  now: Date;
}

/** Returns the target as the API answers it, without the parts that the caller may not see. */
export function targetAnswer(
  db: Database,
  target: TargetRow,
  { keys, ...answering }: TargetAnswerOptions & { keys: HubKey[] },
) {
  return answerWith(db, target, { ...answering, fingerprints: (owner) => fingerprintsOf(db, owner, keys) });
}

/** In the transaction that wrote it: without the digests of new secrets. */
export function savedTargetAnswer(db: Connection, target: TargetRow, answering: TargetAnswerOptions) {
  return answerWith(db, target, { ...answering, fingerprints: (owner) => knownFingerprints(db, owner) });
}

async function answerWith(
  db: Connection,
  target: TargetRow,
  { caller, now, fingerprints }: TargetAnswerOptions & { fingerprints: (owner: SecretOwner) => Promise<Fingerprints> },
) {
  const permissions = permissionsOn(target, caller);
  const mayChange = permissions.includes('change');
  const counted = await countedTargets(db, caller, now).where('targets.id', '=', target.id).executeTakeFirstOrThrow();
  return {
    ...targetItem({ ...target, ...counted }, caller),
    original_groups: mayChange ? target.original_groups : [],
    builder_groups: mayChange ? target.builder_groups : [],
    trusted_keys: mayChange ? target.trusted_keys : null,
    expected_every: mayChange ? target.expected_every : null,
    schedule: mayChange ? target.schedule : null,
    pool: mayChange ? target.pool : null,
    webhook: mayChange && target.webhook_url !== null ? { url: target.webhook_url } : null,
    keep: mayChange ? target.keep : null,
    next_removals: mayChange ? await nextRemovals(db, target) : [],
    secrets: mayChange ? await fingerprints({ owner: 'target', owner_id: target.id }) : {},
    applied: mayChange ? target.applied : null,
  };
}

/** Ids of the snapshots that the keep policy removes at the next publication. */
async function nextRemovals(db: Connection, { id, keep }: TargetRow): Promise<string[]> {
  if (!keep) return [];
  const removable = await removableSnapshots(db, [{ id, keep }]);
  return (removable.get(id) ?? []).map((snapshot) => snapshot.id);
}

export function targetItem({ id, name, revision, settings, ...row }: ListedRow, caller: Caller) {
  const { snapshots, last_snapshot_at, late } = row;
  const permissions = permissionsOn({ id, ...row }, caller);
  return {
    ...{ id, name, revision, permissions, snapshots },
    settings: permissions.includes('read_source') ? settings : forReaders(settings),
    last_snapshot_at: last_snapshot_at?.toISOString() ?? null,
    late,
    storage_profiles: shownProfiles(settings, permissions),
  };
}

/** Names alone: a client compares them with those of its file. */
function shownProfiles({ storage_profile, sanitize }: TargetSettings, permissions: Permission[]) {
  const readsOriginals = permissions.includes('read_originals') || permissions.includes('push');
  return {
    originals: readsOriginals ? (storage_profile ?? null) : null,
    sanitized: sanitize?.storage_profile ?? storage_profile ?? null,
  };
}

/** Nothing of the source, of queries, or of who else may read. */
function forReaders(settings: Record<string, unknown>): Record<string, unknown> {
  const { name, storage_profile: _, sso_groups: __, subset: ___, sanitize: ____, ...rest } = settings;
  const snapshot = rest.snapshot as Record<string, unknown> | undefined;
  return {
    ...(name !== undefined && { name }),
    ...(snapshot && { snapshot: { src_url: null, dst_url: null } }),
  };
}

export interface TargetChange {
  name: string;
  body: TargetBody;
  condition: Condition;
  caller: Caller;
  /** Decides on what was locked; returns the target if the caller may read it. */
  permitFound: (subject: Subject & { target: TargetRow | null }) => TargetRow | null;
  settings: Pick<HubSettings, 'keys' | 'webhookNetworks'>;
}

/**
 * Creates or changes a target; in a transaction of the caller. A name that another target has is refused last: whatever
 * else is wrong with the request is answered as for a free name.
 */
export async function saveTarget(
  db: Connection,
  { name, body, condition, caller, permitFound, settings: { keys, webhookNetworks } }: TargetChange,
): Promise<{ row: TargetRow; before: TargetRow | null; created: boolean }> {
  const { settings, secrets } = withoutSecrets(body.settings);
  const { holder, target } = await lockName(db, name);
  const found = permitFound({ target });
  const profiles = await profileIds(db, body.settings, { caller, found });
  const before = found ? await readSecrets(db, { owner: 'target', owner_id: found.id }, keys) : {};
  const webhook_private = webhookPrivacy(body.webhook, { found, caller, allowed: webhookNetworks });
  const webhookValues = webhookSecrets(body.webhook, before);
  if ('create' in condition) {
    permitFound({ target, holder, creates: true });
    if (found) throw changedMeanwhile(name, condition);
  } else if (found?.revision !== condition.revision) throw changedMeanwhile(name, condition);
  const { original_groups, builder_groups, expected_every, schedule, pool, webhook, keep } = body;
  const webhook_url = webhook && shownWebhook(webhook.url);
  const trusted_keys = body.trusted_keys === undefined ? (found?.trusted_keys ?? null) : body.trusted_keys;
  const applied = {
    ...{ settings, original_groups, builder_groups },
    ...(body.trusted_keys != null && { trusted_keys }),
    ...(expected_every !== null && { expected_every }),
    ...(schedule !== null && { schedule }),
    ...(pool !== null && { pool }),
    ...(webhook_url !== null && { webhook: { url: webhook_url } }),
    ...(keep !== null && { keep }),
  };
  const content = {
    settings: JSON.stringify(settings),
    ...(body.applied && { applied: JSON.stringify(applied) }),
    original_profile_id: profiles.original,
    sanitized_profile_id: profiles.sanitized,
    reader_groups: body.settings.sso_groups ?? [],
    original_groups,
    builder_groups,
    trusted_keys,
    expected_every,
    ...(found && found.expected_every !== expected_every && { expected_since: new Date(), late_since: null }),
    schedule: schedule && JSON.stringify(schedule),
    pool,
    ...{ webhook_url, webhook_private },
    keep: keep && JSON.stringify(keep),
  };
  const row = found
    ? await db
        .updateTable('targets')
        .set({ ...content, revision: found.revision + 1 })
        .where('id', '=', found.id)
        .returning(COLUMNS)
        .executeTakeFirstOrThrow()
    : await db
        .insertInto('targets')
        .values({ name, applied: null, ...content } as never)
        .onConflict((on) => on.column('name').where('removed_at', 'is', null).doNothing())
        .returning(COLUMNS)
        .executeTakeFirst();
  if (!row) {
    // Another request has created it at the same moment.
    permitFound({ ...(await lockName(db, name)), creates: true });
    throw changedMeanwhile(name, condition);
  }
  // A URL as it was shown keeps the password that it had.
  const kept = Object.entries(before).filter(
    ([key, url]) => isUrlKey(key) && valueAt(settings, key) === withoutPassword(url),
  );
  const values = { ...Object.fromEntries(kept), ...secrets, ...webhookValues };
  await writeSecrets(db, { owner: 'target', owner_id: row.id }, { before, values, keys });
  return { row, before: found, created: !found };
}

/** Reports whether the webhook may lead to a private address: an owner wrote it, or it is unchanged. */
function webhookPrivacy(
  webhook: Webhook | null,
  { found, caller, allowed }: { found: TargetRow | null; caller: Caller; allowed: BlockList },
): boolean {
  if (webhook === null) return false;
  const { url } = webhook;
  if (found !== null && found.webhook_url === url) return found.webhook_private;
  const isOwner = caller.role === 'owner';
  if (url.startsWith('http:') && !isOwner) {
    throw new Problem('cloud_refused', 'Only owners may notify a service on the machine of the hub', {
      errors: [{ pointer: '/webhook/url', detail: 'must begin with https://' }],
    });
  }
  refuseLinkLocalAddress(url, '/webhook/url');
  if (!isOwner) refusePrivateAddress(url, { pointer: '/webhook/url', allowed });
  return isOwner;
}

const WEBHOOK_URL = 'webhook.url';
const WEBHOOK_SECRET = 'webhook.secret';

/** A URL as it was shown, and an absent secret, are those that the hub has. */
function webhookSecrets(webhook: Webhook | null, before: Record<string, string>): Record<string, string> {
  if (webhook === null) return {};
  const { [WEBHOOK_URL]: known, [WEBHOOK_SECRET]: knownSecret } = before;
  const isShown = known !== undefined && webhook.url === shownWebhook(known);
  const secret = webhook.secret ?? knownSecret;
  if (secret === undefined) {
    throw new Problem('cloud_refused', 'A webhook needs a secret, which signs its notifications', {
      errors: [{ pointer: '/webhook/secret', detail: 'is required' }],
    });
  }
  return { [WEBHOOK_URL]: isShown ? known : webhook.url, [WEBHOOK_SECRET]: secret };
}

/** The whole webhook of a target, for a notification; `null` when it has none. */
export async function targetWebhook(
  db: Connection,
  targetId: string,
  keys: HubKey[],
): Promise<{ url: string; secret: string; mayBePrivate: boolean } | null> {
  const row = await db.selectFrom('targets').select('webhook_private').where('id', '=', targetId).executeTakeFirst();
  const found = await readSecrets(db, { owner: 'target', owner_id: targetId }, keys);
  const { [WEBHOOK_URL]: url, [WEBHOOK_SECRET]: secret } = found;
  return row && url !== undefined && secret !== undefined ? { url, secret, mayBePrivate: row.webhook_private } : null;
}

function isUrlKey(key: string): boolean {
  return (URL_KEYS as readonly string[]).includes(key);
}

/** Removes a target that the transaction has locked for a change; one with snapshots stays. */
export async function removeTarget(db: Connection, target: TargetRow, condition: Condition): Promise<void> {
  if ('create' in condition || target.revision !== condition.revision) throw changedMeanwhile(target.name, condition);
  const snapshot = await db
    .selectFrom('snapshots')
    .select('id')
    .where('target_id', '=', target.id)
    .where('removed_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (snapshot) {
    throw new Problem('cloud_conflict', `Target "${target.name}" has snapshots`, { hint: 'Remove them first.' });
  }
  await removeSecrets(db, { owner: 'target', owner_id: target.id });
  await db.updateTable('targets').set({ removed_at: new Date() }).where('id', '=', target.id).execute();
}

/** Full URLs, by key. */
export async function targetUrls(db: Connection, target: TargetRow, keys: HubKey[]): Promise<Record<string, string>> {
  const urls: Record<string, string> = {};
  for (const key of URL_KEYS) {
    const url = valueAt(target.settings, key);
    if (typeof url === 'string') urls[key] = url;
  }
  const sealed = Object.entries(await readSecrets(db, { owner: 'target', owner_id: target.id }, keys));
  // A webhook is for the hub alone.
  return { ...urls, ...Object.fromEntries(sealed.filter(([key]) => isUrlKey(key))) };
}

/** Settings as they are shown, and the URLs that hold a password. */
function withoutSecrets(given: TargetSettings): { settings: TargetSettings; secrets: Record<string, string> } {
  const settings = structuredClone(given);
  const secrets: Record<string, string> = {};
  for (const key of URL_KEYS) {
    const url = valueAt(settings, key);
    if (typeof url !== 'string') continue;
    const shown = withoutPassword(url);
    if (shown === url) continue;
    secrets[key] = url;
    const [part = '', field = ''] = key.split('.');
    (settings as Record<string, Record<string, unknown>>)[part] = {
      ...(settings as Record<string, Record<string, unknown>>)[part],
      [field]: shown,
    };
  }
  return { settings, secrets };
}

function valueAt(settings: object, key: string): unknown {
  const [part = '', field = ''] = key.split('.');
  return (settings as Record<string, Record<string, unknown> | undefined>)[part]?.[field];
}

/** A profile that is unknown, and one that the caller may put no targets into, are refused alike. */
async function profileIds(
  db: Connection,
  { storage_profile, sanitize }: TargetSettings,
  { caller, found }: { caller: Caller; found: TargetRow | null },
): Promise<{ original: string | null; sanitized: string | null }> {
  const kept = [found?.original_profile_id, found?.sanitized_profile_id];
  const idOf = async (name: string | undefined, pointer: string): Promise<string | null> => {
    if (name === undefined) return null;
    const row = await db
      .selectFrom('storage_profiles')
      .select(['id', 'target_groups'])
      .where('name', '=', name)
      .executeTakeFirst();
    if (row && (kept.includes(row.id) || mayUseProfile(row, caller))) return row.id;
    throw new Problem('cloud_refused', `The hub has no storage profile "${name}" for your targets`, {
      hint: 'An owner creates it, or adds one of your groups to its target_groups: tool cloud apply',
      errors: [{ pointer, detail: 'must name a storage profile of the hub that you may use' }],
    });
  };
  const original = await idOf(storage_profile, '/settings/storage_profile');
  const sanitized = await idOf(sanitize?.storage_profile, '/settings/sanitize/storage_profile');
  return { original, sanitized: sanitized ?? original };
}
