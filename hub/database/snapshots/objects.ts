import { type RawBuilder, sql } from 'kysely';
import type { Connection, Database } from '../database.ts';
import type { RowOf } from '../tables.ts';

export interface ObjectPlace {
  targetId: string;
  profileId: string;
}

/** The condition on objects and snapshots that they are of a place. */
export function isIn({ targetId, profileId }: ObjectPlace): RawBuilder<boolean> {
  return sql<boolean>`target_id = ${targetId} AND profile_id = ${profileId}`;
}

/** A place that a caller writes to. */
export interface PermittedPlace extends ObjectPlace {
  /** Throws when the caller may no longer do so. */
  permit?: (db: Connection) => Promise<unknown>;
}

export type ExpectedObject = Pick<ObjectRow, 'sha256' | 'stored_sha256' | 'stored_bytes'>;

export type ObjectRow = Pick<RowOf<'objects'>, (typeof COLUMNS)[number]>;

const COLUMNS = ['id', 'sha256', 'stored_sha256', 'stored_bytes', 'state', 'touched_at', 'checked_at'] as const;

/**
 * Writes down what a client is about to send, and touches what is there, so that no sweep takes it. Returns a row for
 * each object. Rows are changed in order of id, as everywhere.
 */
export async function expectObjects(
  db: Database,
  { targetId, profileId, permit }: PermittedPlace,
  objects: ExpectedObject[],
): Promise<Map<string, ObjectRow>> {
  return db.transaction().execute(async (transaction) => {
    await permit?.(transaction);
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
function lockObjects(db: Connection, { sha256s, ...place }: ObjectPlace & { sha256s: string[] }): Promise<ObjectRow[]> {
  return db
    .selectFrom('objects')
    .select(COLUMNS)
    .where(isIn(place))
    .where('sha256', 'in', sha256s)
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** An object in the bucket. `isIntact` is `null` where its content was not read. */
export interface SeenObject {
  bytes: number;
  isIntact: boolean | null;
}

interface SettleOptions {
  inspect: (row: ObjectRow) => Promise<SeenObject | null>;
  remove: () => Promise<void>;
  /** User or service that sent the object. */
  by?: string | null;
}

/**
 * Settles whether an object is stored. `inspect` returns what the bucket has, or `null`; one that differs is removed. No
 * connection waits for the bucket: what another request changes meanwhile is inspected again. Stored objects stay stored:
 * only the check of a report removes them.
 */
export async function settleObject(
  db: Database,
  place: PermittedPlace & { sha256: string },
  { inspect, remove, by = null }: SettleOptions,
): Promise<'stored' | 'missing' | 'differs'> {
  while (true) {
    const expected = await db.transaction().execute((transaction) => lockExpected(transaction, place));
    if (typeof expected === 'string') return expected;
    const seen = await inspect(expected);
    if (seen === null) return 'missing';
    const settled = await db.transaction().execute((transaction) => settle(transaction, { place, expected, seen, by }));
    if (settled === 'changed') continue;
    if (settled === 'differs') {
      await remove();
      await expectAgain(db, expected.id);
    }
    return settled;
  }
}

/** Settles an object by its length in the bucket alone: one that differs stays, and is not stored. */
export async function settleByLength(
  db: Database,
  place: ObjectPlace & { sha256: string },
  bytesOf: () => Promise<number | null>,
): Promise<boolean> {
  const inspect = async () => {
    const bytes = await bytesOf();
    return bytes === null ? null : { bytes, isIntact: null };
  };
  return (await settleObject(db, place, { inspect, remove: async () => {} })) === 'stored';
}

/** Returns the row of an object that is neither stored nor being removed, locked, or else what it is. */
async function lockExpected(
  db: Connection,
  { sha256, permit, ...place }: PermittedPlace & { sha256: string },
): Promise<ObjectRow | 'stored' | 'missing'> {
  await permit?.(db);
  const [row] = await lockObjects(db, { ...place, sha256s: [sha256] });
  if (!row || row.state === 'removing') return 'missing';
  if (row.state === 'expected') return row;
  await db.updateTable('objects').set({ touched_at: new Date() }).where('id', '=', row.id).execute();
  return 'stored';
}

interface Settlement {
  place: PermittedPlace & { sha256: string };
  /** The row before the inspection. */
  expected: ObjectRow;
  seen: SeenObject;
  by: string | null;
}

/** An object that differs is marked as being removed, so that no upload is accepted until its removal has ended. */
async function settle(db: Connection, { place, expected, seen, by }: Settlement) {
  const row = await lockExpected(db, place);
  if (typeof row === 'string') return row;
  if (row.id !== expected.id || row.touched_at.getTime() !== expected.touched_at.getTime()) return 'changed';
  const now = new Date();
  const one = db.updateTable('objects').where('id', '=', row.id);
  if (seen.bytes !== row.stored_bytes || seen.isIntact === false) {
    await one.set({ state: 'removing', deleted_at: now }).execute();
    return 'differs';
  }
  const verified_at = seen.isIntact ? now : null;
  // One that was damaged is checked in full: who sent the former one may have sent this one, too.
  const reported_at = row.checked_at !== null && !seen.isIntact ? now : null;
  await one.set({ state: 'stored', stored_by: by, verified_at, reported_at, touched_at: now }).execute();
  return 'stored';
}

async function expectAgain(db: Database, id: number): Promise<void> {
  const one = db.updateTable('objects').where('id', '=', id).where('state', '=', 'removing');
  await one.set({ state: 'expected', deleted_at: null, touched_at: new Date() }).execute();
}

/** Objects that are named: a manifest may have a million. */
const MISSING_NAMED = 200;

/** More links than an ordinary statement writes in its time on a busy server. */
const MANY = 10_000;

/** The objects of snapshots and of their images. */
export const LINKED = sql<{
  snapshot_pk: number;
  object_id: number;
}>`(SELECT snapshot_pk, object_id FROM snapshot_objects
  UNION ALL SELECT snapshot_pk, object_id FROM image_objects)`.as('linked');

/**
 * Links the stored ones of these objects to a snapshot or its image, and locks them until the transaction ends: no sweep removes them.
 * Returns how many are not stored, and the names of some. The rows stay in the database, since there may be a million.
 */
export async function linkStored(
  db: Connection,
  { targetId, profileId, sha256s, pk, image }: ObjectPlace & { sha256s: string[]; pk: number; image?: string },
): Promise<{ missing: number; named: string[] }> {
  // Some 20 s for a million, of the 30 s of a request.
  if (sha256s.length > MANY) await sql`SET LOCAL statement_timeout = 25000`.execute(db);
  // One text of all of them: a million parameters take long to write.
  const links =
    image === undefined
      ? sql`snapshot_objects (snapshot_pk, object_id) SELECT ${pk}, id`
      : sql`image_objects (snapshot_pk, name, object_id) SELECT ${pk}, ${image}, id`;
  const wanted = sql`string_to_array(${sha256s.join(',')}, ',')`;
  const { rows } = await sql<{ sha256: string; missing: number }>`WITH stored AS MATERIALIZED (
      SELECT id, sha256 FROM objects WHERE target_id = ${targetId} AND profile_id = ${profileId} AND state = 'stored'
        AND sha256 = ANY(${wanted}) ORDER BY id FOR SHARE),
    linked AS (INSERT INTO ${links} FROM stored ON CONFLICT DO NOTHING)
    SELECT sha256, count(*) OVER () AS missing FROM unnest(${wanted}) AS wanted (sha256)
    WHERE NOT EXISTS (SELECT FROM stored WHERE stored.sha256 = wanted.sha256) LIMIT ${MISSING_NAMED}`.execute(db);
  return { missing: rows[0]?.missing ?? 0, named: rows.map(({ sha256 }) => sha256) };
}

export async function storedObjects(
  db: Connection,
  { sha256s, ...place }: ObjectPlace & { sha256s: string[] },
): Promise<Set<string>> {
  const rows = await db
    .selectFrom('objects')
    .select('sha256')
    .where(isIn(place))
    .where('state', '=', 'stored')
    .where((eb) => eb('sha256', '=', eb.fn.any(eb.val(sha256s))))
    .execute();
  return new Set(rows.map(({ sha256 }) => sha256));
}
