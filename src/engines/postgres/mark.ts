import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { type PsqlSession, quoteName, quoteText } from './connection/session.ts';

/** What a base copy contains, so that a later load can tell which tables differ from it. */
const contentsSchema = v.object({
  /** Versions of the server and its collations. */
  server: v.string(),
  /** Digest of the restored definitions and the choices of the load. */
  definitions: v.string(),
  /** Digest of the large objects. */
  others: v.string(),
  sanitized: v.boolean(),
  role: v.nullable(v.string()),
  extensions: v.record(v.string(), v.string()),
  /** Of each table in the order of their names, 16 bytes in base64 without padding; zeros always differ. */
  tables: v.string(),
  /** Why a load cannot be of the differences only. */
  obstacle: v.nullable(v.string()),
});
export type BaseContents = v.InferOutput<typeof contentsSchema>;

/** The comment of a database made by the tool: a name alone never permits a DROP. */
const markSchema = v.object({
  tool: v.picklist(['new', 'undo', 'base', 'spare']),
  of: v.string(),
  /** Of an undo copy. */
  replaced_at: v.optional(v.string(), ''),
  comment: v.optional(v.nullable(v.string()), null),
  /** Of a base copy and a spare: id of the snapshot, and the database that they are copies of. */
  snapshot: v.optional(v.nullable(v.string()), null),
  loaded_at: v.optional(v.string(), ''),
  destination_oid: v.optional(v.nullable(v.pipe(v.number(), v.safeInteger())), null),
  /** The load lacked rows or objects of the snapshot. */
  partial: v.optional(v.boolean(), false),
  contents: v.exactOptional(contentsSchema),
});
export type Mark = v.InferOutput<typeof markSchema>;
export type BaseMark = Pick<Mark, 'of' | 'snapshot' | 'loaded_at' | 'partial' | 'contents'> & { tool: 'base' };
export type NewMark = Partial<Mark> & Pick<Mark, 'tool' | 'of'>;

export interface MarkedDatabase {
  name: string;
  mark: Mark;
}

export function writeMark(database: string, mark: NewMark): string {
  return writeComment(database, JSON.stringify(mark));
}

export function writeComment(database: string, comment: string | null): string {
  return `COMMENT ON DATABASE ${quoteName(database)} IS ${comment === null ? 'NULL' : quoteText(comment)}`;
}

/**
 * A connection limit derived from the name marks a database between CREATE DATABASE, which cannot set a comment, and
 * COMMENT: a run killed in between must not leave an unrecognized database.
 */
export function provisionalLimit(name: string): number {
  return BILLION + (createHash('sha256').update(name).digest().readUInt32BE(0) % BILLION);
}

const BILLION = 1_000_000_000;

/** Databases without a mark for the destination were not made by the tool. */
export async function readMarked(server: PsqlSession, names: string[], destination: string): Promise<MarkedDatabase[]> {
  if (names.length === 0) return [];
  const rows = await server.query<{ name: string; comment: string | null; connection_limit: number }>(`
    SELECT datname AS name, shobj_description(oid, 'pg_database') AS comment, datconnlimit AS connection_limit
    FROM pg_database WHERE datname IN (${names.map(quoteText).join(', ')})`);
  return rows.flatMap(({ name, comment, connection_limit }) => {
    const mark =
      comment === null && connection_limit === provisionalLimit(name)
        ? v.parse(markSchema, { tool: 'new', of: destination })
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
