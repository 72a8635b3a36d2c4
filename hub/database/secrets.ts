import { randomBytes } from 'node:crypto';
import { fingerprint } from '../../src/cloud/contract/fingerprint.ts';
import type { Fingerprints } from '../../src/cloud/contract/schemas.ts';
import { rewrap, type SecretPlace, seal, unseal } from '../secrets/seal.ts';
import type { HubKey } from '../settings-values.ts';
import type { Connection, Database } from './database.ts';

type Owner = Omit<SecretPlace, 'field'>;

/** Replaces all secrets of an owner. One that is as it was keeps its row. */
export async function writeSecrets(
  db: Connection,
  owner: Owner,
  { values, keys }: { values: Record<string, string>; keys: HubKey[] },
): Promise<void> {
  await db.deleteFrom('secrets').where('owner', '=', owner.owner).where('owner_id', '=', owner.owner_id).execute();
  const rows = Object.entries(values).map(([field, value]) => {
    const place = { ...owner, field };
    const salt = randomBytes(12).toString('base64url');
    return { ...place, ...seal(value, place, keys), salt, digest: fingerprint(value, salt) };
  });
  if (rows.length > 0) await db.insertInto('secrets').values(rows).execute();
}

/** The secrets of an owner, opened. */
export async function readSecrets(db: Connection, owner: Owner, keys: HubKey[]): Promise<Record<string, string>> {
  const rows = await rowsOf(db, owner).execute();
  return Object.fromEntries(rows.map((row) => [row.field, unseal(row, { ...owner, field: row.field }, keys)]));
}

export async function fingerprintsOf(db: Connection, owner: Owner): Promise<Fingerprints> {
  const rows = await rowsOf(db, owner).execute();
  return Object.fromEntries(rows.map(({ field, salt, digest }) => [field, { salt, digest }]));
}

export async function removeSecrets(db: Connection, { owner, owner_id }: Owner): Promise<void> {
  await db.deleteFrom('secrets').where('owner', '=', owner).where('owner_id', '=', owner_id).execute();
}

function rowsOf(db: Connection, { owner, owner_id }: Owner) {
  return db
    .selectFrom('secrets')
    .selectAll()
    .where('owner', '=', owner)
    .where('owner_id', '=', owner_id)
    .orderBy('field');
}

/** Whether the hub has a key for each secret. */
export async function canOpenAll(db: Database, keys: HubKey[]): Promise<boolean> {
  const used = await db.selectFrom('secrets').select('key_id').distinct().execute();
  return used.every(({ key_id }) => keys.some(({ id }) => id === key_id));
}

/** Wraps the data keys with the newest hub key; how many were wrapped by another. */
export async function rewrapSecrets(db: Database, keys: HubKey[]): Promise<number> {
  const [newest] = keys;
  if (!newest) return 0;
  return db.transaction().execute(async (transaction) => {
    const old = await transaction
      .selectFrom('secrets')
      .selectAll()
      .where('key_id', '!=', newest.id)
      .forUpdate()
      .execute();
    for (const row of old) {
      const { owner, owner_id, field } = row;
      const { key_id, wrapped_key } = rewrap(row, { owner, owner_id, field }, keys);
      await transaction
        .updateTable('secrets')
        .set({ key_id, wrapped_key })
        .where('owner', '=', owner)
        .where('owner_id', '=', owner_id)
        .where('field', '=', field)
        .execute();
    }
    return old.length;
  });
}
