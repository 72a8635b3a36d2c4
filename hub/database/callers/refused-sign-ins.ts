import { sql } from 'kysely';
import type { Database } from '../database.ts';

/**
 * Counts a sign-in of this origin as refused before it is tried, so that no two at once pass the limit. Returns the seconds
 * until the next one is allowed, 0 where this one is.
 */
export async function countSignIn(db: Database, origin: string, most: number): Promise<number> {
  await sql`DELETE FROM refused_sign_ins WHERE since < now() - interval '1 hour'`.execute(db);
  const { rows } = await sql<{ refused: number; wait: number }>`INSERT INTO refused_sign_ins AS r
      (address, since, refused) VALUES (${origin}, now(), 1)
    ON CONFLICT (address) DO UPDATE SET
      since = CASE WHEN r.since > now() - interval '1 minute' THEN r.since ELSE now() END,
      refused = CASE WHEN r.since > now() - interval '1 minute' THEN least(r.refused, ${most}) + 1 ELSE 1 END
    RETURNING refused, ceil(extract(epoch FROM since + interval '1 minute' - now()))::int AS wait`.execute(db);
  const [{ refused, wait } = { refused: 0, wait: 0 }] = rows;
  return refused > most ? Math.max(wait, 1) : 0;
}

/** The sign-in was not refused after all. */
export async function forgetSignIn(db: Database, origin: string): Promise<void> {
  await sql`UPDATE refused_sign_ins SET refused = greatest(refused - 1, 0) WHERE address = ${origin}`.execute(db);
}
