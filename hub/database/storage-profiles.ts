import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Fingerprints, StorageSettings } from '../../src/cloud/contract/resources.ts';
import { Problem } from '../problem.ts';
import type { HubKey } from '../settings/parse-values.ts';
import { type AuditEvent, eventInsert } from './audit.ts';
import { assertCondition, type Condition, changedMeanwhile } from './condition.ts';
import { type Connection, type Database, withParts } from './database.ts';
import { type Page, type PageQuery, pageOf } from './paging.ts';
import { fingerprintsOf, NO_SECRETS, readSecrets, removeSecrets, replaceSecrets } from './secrets.ts';
import type { RowOf } from './tables.ts';

/** Sealed, and never read back. */
const SECRET_FIELDS = ['access_key', 'secret_key'] as const;

export type StorageProfileRow = RowOf<'storage_profiles'>;

export interface StorageProfileAnswer extends Omit<StorageProfileRow, 'id'> {
  secrets: Fingerprints;
}

function profiles(db: Connection) {
  return db.selectFrom('storage_profiles').selectAll();
}

export async function findProfile(db: Connection, name: string): Promise<StorageProfileRow> {
  const row = await profiles(db).where('name', '=', name).executeTakeFirst();
  return row ?? unknownProfile(name);
}

export async function findProfiles(db: Connection, names: string[]): Promise<StorageProfileRow[]> {
  return names.length === 0 ? [] : profiles(db).where('name', 'in', names).execute();
}

async function lockProfile(db: Connection, name: string): Promise<StorageProfileRow | undefined> {
  return profiles(db).where('name', '=', name).forUpdate().executeTakeFirst();
}

function unknownProfile(name: string): never {
  throw new Problem('cloud_unknown', `There is no storage profile "${name}"`);
}

export async function storageProfileAnswer(
  db: Database,
  { id, ...row }: StorageProfileRow,
  keys: HubKey[],
): Promise<StorageProfileAnswer> {
  return { ...row, secrets: await fingerprintsOf(db, { owner: 'storage_profile', owner_id: id }, keys) };
}

export async function listStorageProfiles(
  db: Database,
  paging: PageQuery,
  keys: HubKey[],
): Promise<Page<StorageProfileAnswer>> {
  const order = { table: 'storage_profiles', by: { name: 'text' } } as const;
  const { items, next_cursor } = await pageOf(profiles(db), paging, order);
  const answers: StorageProfileAnswer[] = [];
  for (const row of items) answers.push(await storageProfileAnswer(db, row, keys));
  return { items: answers, next_cursor };
}

/** Settings with their keys, to reach the bucket. */
export async function openStorageProfile(
  db: Connection,
  id: string,
  keys: HubKey[],
): Promise<{ name: string; revision: number; settings: StorageSettings }> {
  const { name, revision, settings } = await profiles(db).where('id', '=', id).executeTakeFirstOrThrow();
  const { values } = await readSecrets(db, { owner: 'storage_profile', owner_id: id }, keys);
  return { name, revision, settings: { ...settings, ...values } as StorageSettings };
}

export interface StorageProfileChange {
  name: string;
  settings: StorageSettings;
  applied: boolean;
  /** Absent: as before. */
  target_groups?: string[] | null;
  condition: Condition;
  event: Omit<AuditEvent, 'action'>;
  keys: HubKey[];
}

/** Creates or changes a profile, with its event; in a transaction of the caller. The answer lacks digests of new secrets. */
export async function saveStorageProfile(
  db: Connection,
  { name, settings, applied, target_groups, condition, event, keys }: StorageProfileChange,
): Promise<{ answer: StorageProfileAnswer; created: boolean }> {
  const { access_key, secret_key, ...open } = settings;
  const compared = { ...open, ...(target_groups != null && { target_groups }) };
  const content = {
    settings: JSON.stringify(open),
    ...(target_groups !== undefined && { target_groups }),
    ...(applied && { applied: JSON.stringify(compared) }),
  };
  const found = await lockProfile(db, name);
  assertCondition(name, condition, found ?? null);
  if (found && isElsewhere(found.settings, open) && (await isUsed(db, found.id))) {
    throw new Problem('cloud_conflict', `Storage profile "${name}" holds snapshots, which another bucket lacks`, {
      hint: 'Create another storage profile, and name it in the targets.',
    });
  }
  const owner = { owner: 'storage_profile', owner_id: found?.id ?? randomUUID() } as const;
  const before = found ? await readSecrets(db, owner, keys) : NO_SECRETS;
  // Keys cannot be read back, so a change need not repeat them.
  const values = { ...before.values, ...(access_key && { access_key }), ...(secret_key && { secret_key }) };
  const missing = SECRET_FIELDS.filter((field) => values[field] === undefined);
  const saved = found
    ? db
        .updateTable('storage_profiles')
        .set({ ...content, revision: found.revision + 1 })
        .where('id', '=', found.id)
        .returningAll()
    : db
        .insertInto('storage_profiles')
        .values({ id: owner.owner_id, name, applied: null, ...content } as never)
        .onConflict((on) => on.doNothing())
        .returningAll();
  const replaced = replaceSecrets(owner, { before, values, keys });
  const action = found ? 'storage_profile.change' : 'storage_profile.create';
  const parts = [...replaced.statements, eventInsert({ ...event, action, object: name })];
  const { rows } = await sql<StorageProfileRow>`${withParts(parts)} ${saved}`.execute(db);
  const [row] = rows;
  if (!row) throw changedMeanwhile(name, condition);
  if (missing.length > 0) throw keysMissing(missing);
  const { id: _, ...shown } = row;
  return { answer: { ...shown, secrets: replaced.fingerprints }, created: !found };
}

function keysMissing(fields: readonly string[]): Problem {
  return new Problem('cloud_refused', 'A storage profile of the hub needs its own keys', {
    errors: fields.map((field) => ({ pointer: `/settings/${field}`, detail: 'is required' })),
  });
}

const PLACE = ['provider', 'bucket', 'prefix', 'endpoint', 'account_id'];

/** Reports whether the settings lead to another location. */
function isElsewhere(before: Record<string, unknown>, after: Record<string, unknown>): boolean {
  return PLACE.some((key) => before[key] !== after[key]);
}

async function isUsed(db: Connection, id: string): Promise<boolean> {
  const used = await db.selectFrom('objects').select('id').where('profile_id', '=', id).limit(1).executeTakeFirst();
  return used !== undefined;
}

export async function removeStorageProfile(db: Connection, name: string, condition: Condition): Promise<void> {
  const found = (await lockProfile(db, name)) ?? unknownProfile(name);
  assertCondition(name, condition, found);
  const target = await db
    .selectFrom('targets')
    .select('name')
    .where((eb) => eb.or([eb('original_profile_id', '=', found.id), eb('sanitized_profile_id', '=', found.id)]))
    .limit(1)
    .executeTakeFirst();
  if (target || (await isUsed(db, found.id))) {
    throw new Problem('cloud_conflict', `Storage profile "${name}" is in use`, {
      ...(target && { hint: `Target "${target.name}" names it.` }),
    });
  }
  await removeSecrets(db, { owner: 'storage_profile', owner_id: found.id });
  await db.deleteFrom('storage_profiles').where('id', '=', found.id).execute();
}
