import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { fingerprintInPool } from '../../src/cloud/contract/fingerprint.ts';
import type { Fingerprints } from '../../src/cloud/contract/resources.ts';
import { createSemaphore } from '../../src/runtime/semaphore.ts';
import { rewrap, type SecretPlace, seal, unseal } from '../secrets/seal.ts';
import type { HubKey } from '../settings/parse-values.ts';
import type { Connection, Database } from './database.ts';

export type SecretOwner = Omit<SecretPlace, 'field'>;

/** The secrets of an owner by field, and digests of those that were compared. */
interface OpenedSecrets {
  values: Record<string, string>;
  fingerprints: Fingerprints;
}

export const NO_SECRETS: OpenedSecrets = { values: {}, fingerprints: {} };

/** Stands for a secret that nobody has compared yet: the digest takes some 30 ms of a core. */
const NO_DIGEST = { salt: '', digest: '' };

interface SecretChange {
  before: OpenedSecrets;
  values: Record<string, string>;
  keys: HubKey[];
}

/** Statements that replace all secrets of an owner, and the digests that remain. An unchanged secret keeps its row. */
export function replaceSecrets({ owner, owner_id }: SecretOwner, { before, values, keys }: SecretChange) {
  const fields = Object.keys({ ...before.values, ...values });
  const isSame = (field: string): boolean => before.values[field] === values[field];
  const stale = fields.filter((field) => values[field] === undefined);
  const changed = Object.entries(values).filter(([field]) => !isSame(field));
  const rows = changed.map(([field, value]) => {
    const { key_id, wrapped_key, nonce, sealed } = seal(value, { owner, owner_id, field }, keys);
    return sql`(${owner}, ${owner_id}::uuid, ${field}, ${key_id}, ${wrapped_key}::bytea, ${nonce}::bytea, ${sealed}::bytea,
      ${NO_DIGEST.salt}, ${NO_DIGEST.digest})`;
  });
  const statements = [
    sql`DELETE FROM secrets WHERE ${isOf({ owner, owner_id })} AND field = ANY(${stale})`,
    sql`INSERT INTO secrets (owner, owner_id, field, key_id, wrapped_key, nonce, sealed, salt, digest)
      VALUES ${sql.join(rows)} ON CONFLICT (owner, owner_id, field) DO UPDATE SET
        (key_id, wrapped_key, nonce, sealed, salt, digest) = (excluded.key_id, excluded.wrapped_key, excluded.nonce,
          excluded.sealed, excluded.salt, excluded.digest)`,
  ];
  return {
    statements: statements.filter((_, index) => [stale, rows][index]?.length),
    fingerprints: Object.fromEntries(Object.entries(before.fingerprints).filter(([field]) => isSame(field))),
  };
}

export async function readSecrets(db: Connection, owner: SecretOwner, keys: HubKey[]): Promise<OpenedSecrets> {
  const rows = await rowsOf(db, owner).execute();
  const opened = rows.map((row) => [row.field, unseal(row, { ...owner, field: row.field }, keys)]);
  return { values: Object.fromEntries(opened), fingerprints: digestsIn(rows) };
}

function digestsIn(rows: (Fingerprints[string] & { field: string })[]): Fingerprints {
  return Object.fromEntries(rows.filter(isDigested).map(({ field, salt, digest }) => [field, { salt, digest }]));
}

function isDigested({ digest }: { digest: string }): boolean {
  return digest !== NO_DIGEST.digest;
}

/** One core for all digests: other requests are answered meanwhile. */
const digesting = createSemaphore(1);

/** Digests of the secrets of an owner. Those that are missing are computed, and stored for the next reader. */
export async function fingerprintsOf(db: Database, owner: SecretOwner, keys: HubKey[]): Promise<Fingerprints> {
  const rows = await rowsOf(db, owner).execute();
  if (rows.every(isDigested)) return digestsIn(rows);
  await digesting(async () => {
    for (const { field, nonce, digest: known, ...row } of await rowsOf(db, owner).execute()) {
      // Another reader may have waited for the same.
      if (isDigested({ digest: known })) continue;
      const salt = randomBytes(12).toString('base64url');
      const digest = await fingerprintInPool(unseal({ ...row, nonce }, { ...owner, field }, keys), salt);
      // The nonce excludes a secret that was replaced meanwhile.
      await db
        .updateTable('secrets')
        .set({ salt, digest })
        .where(isOf(owner))
        .where('field', '=', field)
        .where('nonce', '=', nonce)
        .execute();
    }
  });
  return digestsIn(await rowsOf(db, owner).execute());
}

export async function removeSecrets(db: Connection, owner: SecretOwner): Promise<void> {
  await db.deleteFrom('secrets').where(isOf(owner)).execute();
}

function rowsOf(db: Connection, owner: SecretOwner) {
  return db.selectFrom('secrets').selectAll().where(isOf(owner)).orderBy('field');
}

function isOf({ owner, owner_id }: SecretOwner) {
  return sql<boolean>`owner = ${owner} AND owner_id = ${owner_id}`;
}

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
        .where(isOf({ owner, owner_id }))
        .where('field', '=', field)
        .execute();
    }
    return old.length;
  });
}
