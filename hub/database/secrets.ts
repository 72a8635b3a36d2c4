import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import { fingerprintInPool } from '../../src/cloud/contract/fingerprint.ts';
import type { Fingerprints } from '../../src/cloud/contract/schemas.ts';
import { rewrap, type SecretPlace, seal, unseal } from '../secrets/seal.ts';
import type { HubKey } from '../settings-values.ts';
import type { Connection, Database } from './database.ts';
import type { Tables } from './tables.ts';

type Owner = Omit<SecretPlace, 'field'>;

/** Salted digests of secrets, by value. */
export type Digests = Map<string, Fingerprints[string]>;

/** A transaction writes secrets whose digests are not computed yet. */
class DigestsMissing extends Error {
  readonly values: string[];

  constructor(values: string[]) {
    super('Digests of secrets are missing');
    this.values = values;
  }
}

/**
 * Runs a transaction that writes secrets. A digest takes time, so it is computed outside: for secrets that the
 * transaction found new, which is rolled back and repeated.
 */
export async function inSecretTransaction<Result>(
  db: Database,
  work: (transaction: Transaction<Tables>, digests: Digests) => Promise<Result>,
): Promise<Result> {
  const digests: Digests = new Map();
  while (true) {
    try {
      return await db.transaction().execute((transaction) => work(transaction, digests));
    } catch (error) {
      if (!(error instanceof DigestsMissing)) throw error;
      for (const value of error.values) {
        const salt = randomBytes(12).toString('base64url');
        digests.set(value, { salt, digest: await fingerprintInPool(value, salt) });
      }
    }
  }
}

interface SecretChange {
  before: Record<string, string>;
  values: Record<string, string>;
  keys: HubKey[];
  digests: Digests;
}

/** Replaces all secrets of an owner, in a transaction of `inSecretTransaction`. An unchanged one keeps its row. */
export async function writeSecrets(
  db: Connection,
  owner: Owner,
  { before, values, keys, digests }: SecretChange,
): Promise<void> {
  const changed = Object.entries(values).filter(([field, value]) => before[field] !== value);
  const missing = changed.map(([, value]) => value).filter((value) => !digests.has(value));
  if (missing.length > 0) throw new DigestsMissing(missing);
  const stale = Object.keys(before).filter((field) => before[field] !== values[field]);
  if (stale.length > 0) {
    const { owner: kind, owner_id } = owner;
    const rows = db.deleteFrom('secrets').where('owner', '=', kind).where('owner_id', '=', owner_id);
    await rows.where('field', 'in', stale).execute();
  }
  const rows = changed.flatMap(([field, value]) => {
    const place = { ...owner, field };
    const digest = digests.get(value);
    return digest ? [{ ...place, ...seal(value, place, keys), ...digest }] : [];
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
