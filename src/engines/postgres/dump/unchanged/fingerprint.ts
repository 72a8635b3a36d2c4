import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { count, list, sha256 } from '../../../../repository/manifest/values.ts';
import { readVersion } from '../../../../runtime/package-files.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { connect } from '../../connection/connect.ts';
import { readServerIdentity } from '../../connection/identity.ts';
import { quoteNumber, quotePath } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { countAll, inBatches, type Relation } from './count-rows.ts';
import { digits, historySchema, isOfPast } from './evidence.ts';
import { readHistory } from './read-state.ts';

/**
 * The rows of a whole database at one instant, catalogs included: what proves a range of a table unchanged (README of
 * this folder) proves so a database, of which no relation has come, gone or got another file.
 */
const fingerprintSchema = v.strictObject({
  program: v.string(),
  history: historySchema,
  xmin: digits,
  /** Oid, file and rows of each relation with rows. */
  relations: list(v.tuple([count, count, count])),
  /** Digest of the values of the sequences, which change without a transaction. */
  sequences: sha256,
});

type Fingerprint = v.InferOutput<typeof fingerprintSchema>;

/** Returns the fingerprint; `null` where nothing could be proved by it. */
export async function readFingerprint(context: EngineContext, url: DatabaseUrl): Promise<Fingerprint | null> {
  return inSnapshot(context, url, async (state) => {
    const relations = await countAll({ sessions: [state.session], relations: state.relations });
    const { history, xmin } = state;
    const counted = relations.map(({ oid, filenode, rows }): Fingerprint['relations'][number] => [oid, filenode, rows]);
    return { program: readVersion(), history, xmin, relations: counted, sequences: state.sequences };
  });
}

/** Reports whether the database is proved to be as one of the fingerprints says. */
export async function isUnchanged(
  context: EngineContext,
  { url, fingerprints }: { url: DatabaseUrl; fingerprints: unknown[] },
): Promise<boolean> {
  const parsed = fingerprints.flatMap((one) => {
    const { success, output } = v.safeParse(fingerprintSchema, one);
    return success ? [output] : [];
  });
  if (parsed.length === 0) return false;
  const proved = await inSnapshot(context, url, async (state) => {
    const found = parsed.find((one) => isOfPast(one, state));
    return found !== undefined && (await isSame(state, found));
  });
  return proved ?? false;
}

async function isSame(state: DatabaseState, { relations, sequences, xmin }: Fingerprint): Promise<boolean> {
  const recorded = new Map(relations.map(([oid, filenode, rows]) => [oid, { filenode, rows }]));
  const isKnown = ({ oid, filenode }: Relation): boolean => recorded.get(oid)?.filenode === filenode;
  if (sequences !== state.sequences || recorded.size !== state.relations.length) return false;
  if (!state.relations.every(isKnown)) return false;
  const counted = await countAll({ sessions: [state.session], relations: state.relations, border: xmin });
  return counted.every(({ oid, rows, fresh }) => !fresh && recorded.get(oid)?.rows === rows);
}

interface DatabaseState {
  session: PostgresSession;
  history: Fingerprint['history'];
  xmin: string;
  xmax: string;
  relations: Relation[];
  sequences: string;
}

/** Reads in one snapshot of the database; `null` where the rows of some relation cannot be counted, or prove nothing. */
export async function inSnapshot<Result>(
  context: EngineContext,
  url: DatabaseUrl,
  read: (state: DatabaseState) => Promise<Result>,
): Promise<Result | null> {
  await using session = await connect(context, url, { tablesOnly: true });
  const signs = await readServerIdentity(session);
  await session.execute('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  // Rows that are hidden from the role are refused instead.
  await session.execute("SET LOCAL row_security = 'off'; SET LOCAL statement_timeout = 0");
  try {
    const now = await readHistory(session, signs);
    const relations = now && (await readRelations(session));
    if (!relations) return null;
    // A swap by name gives the database another row in the catalog.
    const history = { ...now.history, created: '0' };
    return await read({ session, ...now, history, relations, sequences: await readSequences(session) });
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    return null;
  }
}

/** Statistics of the planner are no content; they change by themselves. */
const RELATIONS = `
  SELECT c.oid::int8 AS oid, coalesce(pg_relation_filenode(c.oid), 0)::int8 AS filenode, n.nspname AS schema, c.relname AS name,
    coalesce(pg_relation_size(c.oid), 0)::int8 / current_setting('block_size')::int8 AS pages, c.relam <> (SELECT oid FROM pg_am WHERE amname = 'heap') OR c.relpersistence <> 'p' AS strange,
    has_table_privilege(c.oid, 'SELECT') OR c.relname = 'pg_largeobject' AND NOT EXISTS (SELECT FROM pg_largeobject_metadata)
      OR c.relname = 'pg_user_mapping' AND NOT EXISTS (SELECT FROM pg_foreign_server) AS known,
    has_table_privilege(c.oid, 'SELECT') AS readable
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'm') AND NOT c.relisshared AND c.relpersistence <> 't'
    AND c.oid NOT IN (SELECT s.oid FROM pg_class s WHERE s.relname IN ('pg_statistic', 'pg_statistic_ext_data') AND s.relnamespace = 'pg_catalog'::regnamespace)
  ORDER BY c.oid`;

export async function readRelations(session: PostgresSession): Promise<Relation[] | null> {
  const found = await session.query<Relation & { strange: boolean; known: boolean; readable: boolean }>(RELATIONS);
  if (found.some(({ strange, known }) => strange || !known)) return null;
  return found.filter(({ readable }) => readable);
}

async function readSequences(session: PostgresSession): Promise<string> {
  const sequences = await session.query<{ oid: number; schema: string; name: string }>(`
    SELECT c.oid::int8 AS oid, n.nspname AS schema, c.relname AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'S' AND c.relpersistence <> 't' ORDER BY c.oid`);
  const digest = createHash('sha256');
  for (const some of inBatches(sequences)) {
    const values = some.map(
      ({ oid, schema, name }) =>
        `SELECT ${quoteNumber(oid)}::int8 AS oid, last_value::text AS value, is_called FROM ${quotePath(schema, name)}`,
    );
    digest.update(JSON.stringify(await session.query(`${values.join(' UNION ALL ')} ORDER BY oid`)));
  }
  return digest.digest('hex');
}
