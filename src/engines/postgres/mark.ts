import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { type PsqlSession, quoteName, quoteText } from './connection/session.ts';

/** What a database that this program made says of itself, in its comment: a name alone never permits a DROP. */
const markSchema = v.object({
  tool: v.picklist(['new', 'undo']),
  /** The destination that it was made for. */
  of: v.string(),
  /** When the database was replaced; of an undo copy. */
  replaced_at: v.optional(v.string(), ''),
  /** The comment that an undo copy had as the destination. */
  comment: v.optional(v.nullable(v.string()), null),
});
export type Mark = v.InferOutput<typeof markSchema>;

export interface MarkedDatabase {
  name: string;
  mark: Mark;
}

/** The statement that writes the mark. */
export function writeMark(database: string, mark: Partial<Mark> & Pick<Mark, 'tool' | 'of'>): string {
  return writeComment(database, JSON.stringify(mark));
}

export function writeComment(database: string, comment: string | null): string {
  return `COMMENT ON DATABASE ${quoteName(database)} IS ${comment === null ? 'NULL' : quoteText(comment)}`;
}

/**
 * A connection limit that no person chooses, derived from the name: CREATE DATABASE cannot write a comment, and a run
 * that is killed between the two statements must not leave a database that nobody recognises.
 */
export function provisionalLimit(name: string): number {
  return BILLION + (createHash('sha256').update(name).digest().readUInt32BE(0) % BILLION);
}

const BILLION = 1_000_000_000;

/** The databases of these names that carry a mark for the destination; others of such names belong to somebody else. */
export async function readMarked(server: PsqlSession, names: string[], destination: string): Promise<MarkedDatabase[]> {
  if (names.length === 0) return [];
  const rows = await server.query<{ name: string; comment: string | null; connection_limit: number }>(`
    SELECT datname AS name, shobj_description(oid, 'pg_database') AS comment, datconnlimit AS connection_limit
    FROM pg_database WHERE datname IN (${names.map(quoteText).join(', ')})`);
  return rows.flatMap(({ name, comment, connection_limit }) => {
    const mark =
      comment === null && connection_limit === provisionalLimit(name)
        ? { tool: 'new' as const, of: destination, replaced_at: '', comment: null }
        : parseMark(comment);
    return names.includes(name) && mark?.of === destination ? [{ name, mark }] : [];
  });
}

function parseMark(comment: string | null): Mark | null {
  try {
    const parsed = v.safeParse(markSchema, JSON.parse(comment ?? 'null'));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}
