import { createHash, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import type { DatabaseUrl } from '../../database-url.ts';
import { BRANCH_ENTRIES } from '../../shared/branches.ts';
import { rowsOfAnother } from '../../shared/rows/only-rows.ts';
import { baseEvidenceSchema } from '../branches/in-place/evidence-schema.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';

const branchSchema = v.object({
  ...BRANCH_ENTRIES,
  /** Its own name: a branch that was switched to has that of the destination. */
  database: v.string(),
  /** The file system shares its blocks with the base copy. */
  cloned: v.optional(v.boolean(), false),
  /** Client sessions when it was ready (`pg_stat_database.sessions`). */
  sessions: v.optional(v.nullable(v.pipe(v.number(), v.safeInteger())), null),
});
export type BranchFacts = v.InferOutput<typeof branchSchema>;

/** Contents of a base copy, by which a later load finds the tables that differ from it. */
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
  /**
   * Digests of the tables in the order of their names, 16 bytes each in base64 without padding; zeros always differ.
   */
  tables: v.string(),
  /** Why a load cannot be of the differences only. */
  obstacle: v.nullable(v.string()),
  /** Rows that loads by rows have deleted, by table: their space is unused until the table is loaded whole. */
  deleted: v.exactOptional(v.record(v.string(), v.number())),
});
export type BaseContents = v.InferOutput<typeof contentsSchema>;

/** The comment of a database made by the tool: a name alone never permits a DROP. */
const markSchema = v.object({
  tool: v.picklist(['new', 'undo', 'base', 'spare', 'branch']),
  of: v.string(),
  /** In a shadow database that becomes a new branch: the destination of that. */
  branch_of: v.exactOptional(v.string()),
  /** Time of the replacement, in an undo copy. */
  replaced_at: v.optional(v.string(), ''),
  comment: v.optional(v.nullable(v.string()), null),
  branch: v.optional(v.nullable(branchSchema), null),
  /**
   * In a base copy and a spare: id of the snapshot, and the database that they are copies of. In a branch: its own. In an
   * undo copy of rows: the database that they are of.
   */
  snapshot: v.optional(v.nullable(v.string()), null),
  loaded_at: v.optional(v.string(), ''),
  destination_oid: v.optional(v.nullable(v.pipe(v.number(), v.safeInteger())), null),
  /** In a base copy and a spare: the database that a return to a save replaced by `destination_oid`. */
  former_oid: v.optional(v.nullable(v.pipe(v.number(), v.safeInteger())), null),
  /** The load lacked rows or objects of the snapshot. */
  partial: v.optional(v.boolean(), false),
  contents: v.exactOptional(contentsSchema),
  /**
   * In a base copy with unlogged tables, which a crash of the server empties: the start of the time without a crash.
   */
  no_crash_since: v.exactOptional(v.string()),
  /** In an undo copy of rows only: the tables, of which `rows_0` and the next have the rows, and their sequences. */
  rows: v.exactOptional(
    v.object({
      tables: v.array(
        v.object({ name: v.string(), schema: v.string(), table: v.string(), columns: v.array(v.string()) }),
      ),
      sequences: v.array(v.object({ schema: v.string(), name: v.string(), last_value: v.nullable(v.string()) })),
      /** Code of other roles may run with the rights of a superuser. */
      allows_code: v.exactOptional(v.literal(true)),
    }),
  ),
  /** Row versions of a base copy, by which a reset finds what has changed. */
  evidence: v.exactOptional(baseEvidenceSchema),
  /** This program reads in the base copy, or was killed while it did. */
  reading: v.exactOptional(v.literal(true)),
  /** Client sessions of a base copy when it was made, on servers that count them. */
  sessions: v.exactOptional(v.pipe(v.number(), v.safeInteger())),
});
export type Mark = v.InferOutput<typeof markSchema>;
export type UndoRows = NonNullable<Mark['rows']>;
export type BaseMark = Pick<
  Mark,
  'of' | 'snapshot' | 'loaded_at' | 'partial' | 'contents' | 'no_crash_since' | 'sessions' | 'evidence'
> & {
  tool: 'base';
};
export type BranchMark = Mark & { tool: 'branch'; branch: BranchFacts };
export type NewMark = Partial<Mark> & Pick<Mark, 'tool' | 'of'>;

export interface MarkedDatabase {
  name: string;
  mark: Mark;
  /** Nobody else can have forged it. */
  own: boolean;
  /** Made by this role or a superuser: what is in it may be read with the rights of this role. */
  readable: boolean;
}

/**
 * Returns a condition on a database `d` that is marked as one of a destination: a role that may create databases can
 * mark its own as anything, so what is in it counts only where it belongs to this role or to the owner of the
 * destination. The right to use the owner's role is no condition, since a superuser has that to all.
 */
export function belongsTo(destination: string): string {
  return `(pg_get_userbyid(d.datdba) = current_user OR NOT EXISTS (
    SELECT FROM pg_database o WHERE o.datname = ${destination} AND o.datdba <> d.datdba))`;
}

/** Reports whether a base copy or a spare is of this database, as its load left it. */
export function isCopyOf({ destination_oid, former_oid }: Mark, oid: number | null): boolean {
  return oid !== null && (oid === destination_oid || oid === former_oid);
}

/** Throws for rows of another database than the one with this oid. Earlier releases did not keep which one it was. */
export function assertRowsOf(url: DatabaseUrl, { destination_oid }: Mark, oid: number | null): void {
  if (destination_oid !== null && destination_oid !== oid) throw rowsOfAnother(url);
}

/** The mark of a shadow database, also of a branch that does not exist yet. */
export function newMark(of: string, branchOf?: string): NewMark {
  return { tool: 'new', of, ...(branchOf !== undefined && { branch_of: branchOf }) };
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
export async function readMarked(server: PostgresSession, names: string[], destination: string) {
  if (names.length === 0) return [];
  const rows = await server.query<{
    name: string;
    comment: string | null;
    connection_limit: number;
    own: boolean;
    readable: boolean;
  }>(`
    SELECT datname AS name, shobj_description(oid, 'pg_database') AS comment, datconnlimit AS connection_limit,
      ${belongsTo(quoteText(destination))} AS own,
      (pg_get_userbyid(datdba) = current_user OR EXISTS (SELECT FROM pg_roles r WHERE r.oid = d.datdba AND r.rolsuper)) AS readable
    FROM pg_database d WHERE datname IN (${names.map(quoteText).join(', ')})`);
  return rows.flatMap(({ name, comment, connection_limit, own, readable }) => {
    const mark =
      comment === null && connection_limit === provisionalLimit(name)
        ? v.parse(markSchema, { tool: 'new', of: destination })
        : parseMark(comment);
    return names.includes(name) && mark?.of === destination ? [{ name, mark, own, readable }] : [];
  });
}

const ROLE_PREFIX = 'tool-load-';

/** A name for the role that restores the content of a load. */
export function newRoleName(): string {
  return `${ROLE_PREFIX}${randomBytes(8).toString('hex')}`;
}

/** The comment of such a role. */
export function roleMark(destination: string): string {
  return JSON.stringify({ tool: 'new', of: destination } satisfies NewMark);
}

export async function readMarkedRoles(server: PostgresSession, destination: string): Promise<string[]> {
  const rows = await server.query<{ name: string }>(`
    SELECT rolname AS name FROM pg_roles
    WHERE rolname ~ '^${ROLE_PREFIX}[0-9a-f]{16}$' AND shobj_description(oid, 'pg_authid') = ${quoteText(roleMark(destination))}`);
  return rows.map(({ name }) => name);
}

export function branchMarkText(mark: Omit<BranchMark, 'tool' | 'replaced_at' | 'comment'>): string {
  return JSON.stringify({ tool: 'branch', ...mark } satisfies NewMark);
}

/** The mark of a branch; `null` of any other comment. */
export function parseBranchMark(comment: string | null): BranchMark | null {
  const mark = parseMark(comment);
  return mark?.tool === 'branch' && mark.branch ? { ...mark, tool: 'branch', branch: mark.branch } : null;
}

/** The database of a branch that was to be created for the destination, by the mark of its shadow database. */
export function newBranchOf(comment: string | null, destination: string): string | null {
  const mark = parseMark(comment);
  return mark?.tool === 'new' && mark.branch_of === destination ? mark.of : null;
}

function parseMark(comment: string | null): Mark | null {
  try {
    const parsed = v.safeParse(markSchema, JSON.parse(comment ?? 'null'));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}
