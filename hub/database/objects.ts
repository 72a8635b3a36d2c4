import type { Connection, Database } from './database.ts';

export interface ObjectPlace {
  targetId: string;
  profileId: string;
}

export interface ExpectedObject {
  sha256: string;
  stored_sha256: string | null;
  stored_bytes: number;
}

export interface ObjectRow extends ExpectedObject {
  id: number;
  state: 'expected' | 'stored' | 'removing';
}

const COLUMNS = ['id', 'sha256', 'stored_sha256', 'stored_bytes', 'state'] as const;

/**
 * Writes down what a client is about to send, and touches what is there, so that no sweep takes it. Returns a row for
 * each object. Rows are changed in order of id, as everywhere.
 */
export async function expectObjects(
  db: Database,
  { targetId, profileId }: ObjectPlace,
  objects: ExpectedObject[],
): Promise<Map<string, ObjectRow>> {
  return db.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('objects')
      .values(
        objects
          .toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1))
          .map((object) => ({ ...object, target_id: targetId, profile_id: profileId, state: 'expected' as const })),
      )
      .onConflict((on) => on.doNothing())
      .execute();
    const place = { targetId, profileId };
    const rows = await lockObjects(transaction, { ...place, sha256s: objects.map(({ sha256 }) => sha256) });
    const wanted = new Map(objects.map((object) => [object.sha256, object]));
    const found = new Map<string, ObjectRow>();
    for (const row of rows) {
      const object = wanted.get(row.sha256);
      if (!object || row.state === 'removing') {
        found.set(row.sha256, row);
        continue;
      }
      const { stored_sha256, stored_bytes } = row.state === 'expected' ? object : row;
      await transaction
        .updateTable('objects')
        .set({ stored_sha256, stored_bytes, touched_at: new Date() })
        .where('id', '=', row.id)
        .execute();
      found.set(row.sha256, { ...row, stored_sha256, stored_bytes });
    }
    return found;
  });
}

/** In order of id, so that two that lock the same ones wait instead of blocking each other. */
function lockObjects(
  db: Connection,
  { targetId, profileId, sha256s }: ObjectPlace & { sha256s: string[] },
): Promise<ObjectRow[]> {
  return db
    .selectFrom('objects')
    .select(COLUMNS)
    .where('target_id', '=', targetId)
    .where('profile_id', '=', profileId)
    .where('sha256', 'in', sha256s)
    .orderBy('id')
    .forUpdate()
    .execute();
}

/**
 * Settles whether an object is stored, under a lock. `look` returns what the bucket has: its bytes, or `null`.
 * Stored objects stay stored: verification never removes them.
 */
export async function settleObject(
  db: Database,
  { sha256, ...place }: ObjectPlace & { sha256: string },
  { look, remove }: { look: (row: ObjectRow) => Promise<number | null>; remove: () => Promise<void> },
): Promise<'stored' | 'missing' | 'differs'> {
  return db.transaction().execute(async (transaction) => {
    const [row] = await lockObjects(transaction, { ...place, sha256s: [sha256] });
    if (!row || row.state === 'removing') return 'missing';
    const touch = (state: 'expected' | 'stored') =>
      transaction.updateTable('objects').set({ state, touched_at: new Date() }).where('id', '=', row.id).execute();
    if (row.state === 'stored') {
      await touch('stored');
      return 'stored';
    }
    const bytes = await look(row);
    if (bytes === null) return 'missing';
    if (bytes !== row.stored_bytes) {
      await remove();
      return 'differs';
    }
    await touch('stored');
    return 'stored';
  });
}

/** Of these objects those that are stored, locked until the transaction ends: no sweep removes them. */
export async function shareStored(
  db: Connection,
  { targetId, profileId, sha256s }: ObjectPlace & { sha256s: string[] },
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('objects')
    .select(['id', 'sha256'])
    .where('target_id', '=', targetId)
    .where('profile_id', '=', profileId)
    .where('state', '=', 'stored')
    .where((eb) => eb('sha256', '=', eb.fn.any(eb.val(sha256s))))
    .orderBy('id')
    .forShare()
    .execute();
  return new Map(rows.map(({ id, sha256 }) => [sha256, id]));
}

/** Of these objects those that are stored. */
export async function storedObjects(
  db: Connection,
  { targetId, profileId, sha256s }: ObjectPlace & { sha256s: string[] },
): Promise<Set<string>> {
  const rows = await db
    .selectFrom('objects')
    .select('sha256')
    .where('target_id', '=', targetId)
    .where('profile_id', '=', profileId)
    .where('state', '=', 'stored')
    .where((eb) => eb('sha256', '=', eb.fn.any(eb.val(sha256s))))
    .execute();
  return new Set(rows.map(({ sha256 }) => sha256));
}
