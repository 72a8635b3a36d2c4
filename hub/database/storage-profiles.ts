import type { Fingerprints, StorageSettings } from '../../src/cloud/contract/schemas.ts';
import { Problem } from '../problem.ts';
import type { HubKey } from '../settings-values.ts';
import type { Condition } from './condition.ts';
import { changedMeanwhile } from './condition.ts';
import type { Connection, Database } from './database.ts';
import { type Page, type PageQuery, pageOf } from './paging.ts';
import { fingerprintsOf, knownFingerprints, readSecrets, removeSecrets, writeSecrets } from './secrets.ts';

/** Sealed, and never read back. */
const SECRET_FIELDS = ['access_key', 'secret_key'] as const;

export interface StorageProfileRow {
  id: string;
  name: string;
  settings: Record<string, unknown>;
  applied: Record<string, unknown> | null;
  /** Groups whose members may put targets into it, besides owners; `null`: every member. */
  target_groups: string[] | null;
  revision: number;
}

export interface StorageProfileAnswer extends Omit<StorageProfileRow, 'id'> {
  secrets: Fingerprints;
}

export async function findStorageProfile(db: Connection, name: string): Promise<StorageProfileRow | null> {
  const row = await db.selectFrom('storage_profiles').selectAll().where('name', '=', name).executeTakeFirst();
  return row ?? null;
}

export async function storageProfileAnswer(
  db: Database,
  { id, ...row }: StorageProfileRow,
  keys: HubKey[],
): Promise<StorageProfileAnswer> {
  return { ...row, secrets: await fingerprintsOf(db, { owner: 'storage_profile', owner_id: id }, keys) };
}

/** In the transaction that wrote it: without the digests of new secrets. */
export async function savedProfileAnswer(
  db: Connection,
  { id, ...row }: StorageProfileRow,
): Promise<StorageProfileAnswer> {
  return { ...row, secrets: await knownFingerprints(db, { owner: 'storage_profile', owner_id: id }) };
}

export async function listStorageProfiles(
  db: Database,
  paging: PageQuery,
  keys: HubKey[],
): Promise<Page<StorageProfileAnswer>> {
  const base = db.selectFrom('storage_profiles').selectAll().orderBy('name');
  const { items, next_cursor } = await pageOf<StorageProfileRow>(paging, {
    keyOf: ({ name }) => [name],
    rows: (limit, after) => (after ? base.where('name', '>', after[0] ?? '') : base).limit(limit).execute(),
  });
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
  const row = await db.selectFrom('storage_profiles').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const secrets = await readSecrets(db, { owner: 'storage_profile', owner_id: id }, keys);
  return { name: row.name, revision: row.revision, settings: { ...row.settings, ...secrets } as StorageSettings };
}

export interface StorageProfileChange {
  name: string;
  settings: StorageSettings;
  applied: boolean;
  /** Absent: as before. */
  target_groups?: string[] | null;
  condition: Condition;
  keys: HubKey[];
}

/** Creates or changes a profile; in a transaction of the caller. */
export async function saveStorageProfile(
  db: Connection,
  { name, settings, applied, target_groups, condition, keys }: StorageProfileChange,
): Promise<{ row: StorageProfileRow; created: boolean }> {
  const secrets: Record<string, string> = {};
  const open: Record<string, unknown> = { ...settings };
  for (const field of SECRET_FIELDS) {
    const value = settings[field];
    if (value !== undefined) secrets[field] = value;
    delete open[field];
  }
  const compared = { ...open, ...(target_groups != null && { target_groups }) };
  const content = {
    settings: JSON.stringify(open),
    ...(target_groups !== undefined && { target_groups }),
    ...(applied && { applied: JSON.stringify(compared) }),
  };
  const found = await db
    .selectFrom('storage_profiles')
    .selectAll()
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();
  if ('create' in condition ? found : found?.revision !== condition.revision) throw changedMeanwhile(name, condition);
  if (found && isElsewhere(found.settings, open) && (await isUsed(db, found.id))) {
    throw new Problem(
      'cloud_conflict',
      `Storage profile "${name}" holds snapshots, which another bucket does not have`,
      {
        hint: 'Create another storage profile, and name it in the targets.',
      },
    );
  }
  const row = found
    ? await db
        .updateTable('storage_profiles')
        .set({ ...content, revision: found.revision + 1 })
        .where('id', '=', found.id)
        .returningAll()
        .executeTakeFirstOrThrow()
    : await db
        .insertInto('storage_profiles')
        .values({ name, applied: null, ...content } as never)
        .onConflict((on) => on.doNothing())
        .returningAll()
        .executeTakeFirst();
  if (!row) throw changedMeanwhile(name, condition);
  // Keys cannot be read back, so a change need not repeat them.
  const owner = { owner: 'storage_profile', owner_id: row.id } as const;
  const before = await readSecrets(db, owner, keys);
  const values = { ...before, ...secrets };
  const missing = SECRET_FIELDS.filter((field) => values[field] === undefined);
  if (missing.length > 0) throw keysMissing(missing);
  await writeSecrets(db, owner, { before, values, keys });
  return { row, created: !found };
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
  const found = await db
    .selectFrom('storage_profiles')
    .selectAll()
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();
  if (!found) throw new Problem('cloud_unknown', `There is no storage profile "${name}"`);
  if ('create' in condition || found.revision !== condition.revision) throw changedMeanwhile(name, condition);
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
