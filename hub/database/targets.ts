import { type RawBuilder, sql } from 'kysely';
import type { Schedule, Webhook } from '../../src/cloud/contract/builds.ts';
import type { Keep } from '../../src/cloud/contract/retention.ts';
import type { TargetBody, TargetSettings } from '../../src/cloud/contract/schemas.ts';
import { URL_KEYS, withoutPassword } from '../../src/cloud/contract/url-password.ts';
import { shownWebhook } from '../../src/cloud/contract/webhook.ts';
import { type Caller, permissionsOn } from '../access.ts';
import { Problem } from '../problem.ts';
import type { HubKey } from '../settings-values.ts';
import { type Condition, changedMeanwhile } from './condition.ts';
import type { Connection, Database } from './database.ts';
import { isLate } from './late.ts';
import { type Page, type Paging, pageOf } from './paging.ts';
import { removableSnapshots } from './retention.ts';
import { fingerprintsOf, readSecrets, removeSecrets, writeSecrets } from './secrets.ts';
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
  expected_every: string | null;
  schedule: Schedule | null;
  pool: string | null;
  webhook_url: string | null;
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
  'expected_every',
  'schedule',
  'pool',
  'webhook_url',
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

export function findTargets(db: Connection, names: string[]): Promise<TargetRow[]> {
  return db.selectFrom('targets').select(COLUMNS).where('name', 'in', names).where('removed_at', 'is', null).execute();
}

/** Snapshots that the caller may read, and the age of the newest. */
interface Counted {
  snapshots: number;
  last_snapshot_at: Date | null;
  late: boolean;
}

export async function listTargets(
  db: Database,
  caller: Caller,
  { q, now, ...paging }: Paging & { q?: string | undefined; now: Date },
): Promise<Page<TargetRow & Counted>> {
  const originals = readsOriginals(caller);
  // One of the two is executed, by its own index: the condition is evaluated once for each target.
  const counted = (of: RawBuilder<unknown>) => sql`CASE WHEN ${originals}
    THEN (SELECT ${of} FROM snapshots s WHERE s.target_id = targets.id AND s.removed_at IS NULL)
    ELSE (SELECT ${of} FROM snapshots s WHERE s.target_id = targets.id AND s.removed_at IS NULL AND s.sanitized) END`;
  let base = db
    .selectFrom('targets')
    .select(COLUMNS.map((column) => `targets.${column}` as const))
    .select(counted(sql`count(*)`).$castTo<number>().as('snapshots'))
    .select(counted(sql`max(s.created_at)`).$castTo<Date | null>().as('last_snapshot_at'))
    .select(isLate(now).as('late'))
    .where(isVisible(caller))
    .orderBy('targets.name');
  if (q !== undefined) base = base.where(sql<boolean>`position(lower(${q}) in lower(targets.name)) > 0`);
  return pageOf<TargetRow & Counted>(paging, {
    keyOf: ({ name }) => [name],
    rows: (limit, after) => (after ? base.where('targets.name', '>', after[0] ?? '') : base).limit(limit).execute(),
  });
}

async function countSnapshots(
  db: Connection,
  target: TargetRow,
  { caller, now }: { caller: Caller; now: Date },
): Promise<Counted> {
  const originals = permissionsOn(target, caller).includes('read_originals');
  let query = db
    .selectFrom('snapshots')
    .select((eb) => [eb.fn.countAll<number>().as('snapshots'), eb.fn.max('created_at').as('last_snapshot_at')])
    .where('target_id', '=', target.id)
    .where('removed_at', 'is', null);
  if (!originals) query = query.where('sanitized', '=', true);
  const { snapshots, last_snapshot_at } = await query.executeTakeFirstOrThrow();
  const { late } = await db
    .selectFrom('targets')
    .select(isLate(now).as('late'))
    .where('id', '=', target.id)
    .executeTakeFirstOrThrow();
  return { snapshots, last_snapshot_at: last_snapshot_at ?? null, late };
}

/** As it is answered: what the caller may not see is left out. */
export async function targetAnswer(db: Connection, target: TargetRow, { caller, now }: { caller: Caller; now: Date }) {
  const permissions = permissionsOn(target, caller);
  const mayChange = permissions.includes('change');
  const counted = await countSnapshots(db, target, { caller, now });
  return {
    ...targetItem({ ...target, ...counted }, caller),
    original_groups: mayChange ? target.original_groups : [],
    builder_groups: mayChange ? target.builder_groups : [],
    expected_every: mayChange ? target.expected_every : null,
    schedule: mayChange ? target.schedule : null,
    pool: mayChange ? target.pool : null,
    webhook: mayChange && target.webhook_url !== null ? { url: target.webhook_url } : null,
    keep: mayChange ? target.keep : null,
    next_removals: mayChange ? await nextRemovals(db, target) : [],
    secrets: mayChange ? await fingerprintsOf(db, { owner: 'target', owner_id: target.id }) : {},
    applied: mayChange ? target.applied : null,
  };
}

/** Ids of the snapshots that the keep policy removes at the next publication. */
async function nextRemovals(db: Connection, { id, keep }: TargetRow): Promise<string[]> {
  if (!keep) return [];
  const removable = await removableSnapshots(db, [{ id, keep }]);
  return (removable.get(id) ?? []).map((snapshot) => snapshot.id);
}

export function targetItem({ id, name, revision, settings, ...row }: TargetRow & Counted, caller: Caller) {
  const { snapshots, last_snapshot_at, late } = row;
  const permissions = permissionsOn({ id, ...row }, caller);
  return {
    ...{ id, name, revision, permissions, snapshots },
    settings: permissions.includes('read_source') ? settings : forReaders(settings),
    last_snapshot_at: last_snapshot_at?.toISOString() ?? null,
    late,
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
  keys: HubKey[];
}

/** Creates or changes a target; in a transaction of the caller. */
export async function saveTarget(
  db: Connection,
  { name, body, condition, keys }: TargetChange,
): Promise<{ row: TargetRow; before: TargetRow | null; created: boolean }> {
  const { settings, secrets } = withoutSecrets(body.settings);
  const profiles = await profileIds(db, body.settings);
  const found = await db
    .selectFrom('targets')
    .select(COLUMNS)
    .where('name', '=', name)
    .where('removed_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  if ('create' in condition ? found : found?.revision !== condition.revision) throw changedMeanwhile(name, condition);
  const { original_groups, builder_groups, expected_every, schedule, pool, webhook, keep } = body;
  const webhook_url = webhook && shownWebhook(webhook.url);
  const applied = {
    ...{ settings, original_groups, builder_groups },
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
    expected_every,
    ...(found && found.expected_every !== expected_every && { expected_since: new Date(), late_since: null }),
    schedule: schedule && JSON.stringify(schedule),
    pool,
    webhook_url,
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
  if (!row) throw changedMeanwhile(name, condition);
  const owner = { owner: 'target', owner_id: row.id } as const;
  const before = await readSecrets(db, owner, keys);
  // A URL as it was shown keeps the password that it had.
  const kept = Object.entries(before).filter(
    ([key, url]) => isUrlKey(key) && valueAt(settings, key) === withoutPassword(url),
  );
  const values = { ...Object.fromEntries(kept), ...secrets, ...webhookSecrets(webhook, before) };
  await writeSecrets(db, owner, { values, keys });
  return { row, before: found ?? null, created: !found };
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
): Promise<{ url: string; secret: string } | null> {
  const found = await readSecrets(db, { owner: 'target', owner_id: targetId }, keys);
  const { [WEBHOOK_URL]: url, [WEBHOOK_SECRET]: secret } = found;
  return url !== undefined && secret !== undefined ? { url, secret } : null;
}

function isUrlKey(key: string): boolean {
  return (URL_KEYS as readonly string[]).includes(key);
}

/** Its name is free again; a target with snapshots stays. */
export async function removeTarget(db: Connection, target: TargetRow, condition: Condition): Promise<void> {
  const row = await db
    .selectFrom('targets')
    .select('revision')
    .where('id', '=', target.id)
    .where('removed_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  if ('create' in condition || row?.revision !== condition.revision) throw changedMeanwhile(target.name, condition);
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

async function profileIds(
  db: Connection,
  { storage_profile, sanitize }: TargetSettings,
): Promise<{ original: string | null; sanitized: string | null }> {
  const idOf = async (name: string | undefined, pointer: string): Promise<string | null> => {
    if (name === undefined) return null;
    const row = await db.selectFrom('storage_profiles').select('id').where('name', '=', name).executeTakeFirst();
    if (row) return row.id;
    throw new Problem('cloud_refused', `storage profile '${name}' not found on the hub`, {
      hint: 'An owner creates it: tool cloud apply',
      errors: [{ pointer, detail: 'must name a storage profile of the hub' }],
    });
  };
  const original = await idOf(storage_profile, '/settings/storage_profile');
  const sanitized = await idOf(sanitize?.storage_profile, '/settings/sanitize/storage_profile');
  return { original, sanitized: sanitized ?? original };
}
