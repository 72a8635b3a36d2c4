import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { connect } from '../../connection/connect.ts';
import { quoteName, quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { Relation } from '../../dump/unchanged/count-rows.ts';
import { countAll, inBatches, toXid } from '../../dump/unchanged/count-rows.ts';
import { inSnapshot } from '../../dump/unchanged/fingerprint.ts';
import { isSet, readMapsApart } from '../../dump/unchanged/visibility-maps.ts';
import type { BaseEvidence } from './evidence-schema.ts';

/** Relations and sequences in a mark, which is read with each list of databases. */
const MOST_RELATIONS = 2_000;

/** Reads the evidence of a database that nobody uses yet; `null` where nothing could be proved by it. */
export async function readBaseEvidence(context: EngineContext, url: DatabaseUrl): Promise<BaseEvidence | null> {
  return inSnapshot(context, url, async (state) => {
    const { session, history, xmin, relations } = state;
    const sequences = await readSequenceValues(session);
    if (relations.length + sequences.length > MOST_RELATIONS) return null;
    const initial = await readInitial(session, xmin);
    if (initial === null) return null;
    return {
      ...{ system: history.system, timeline: history.timeline, xmin, initial },
      relations: (await countAll({ sessions: [session], relations })).map(({ oid, filenode, rows }) => [
        oid,
        filenode,
        rows,
      ]),
      maps: await readSetMaps(context, { url, relations }),
      catalogs: await digestCatalogs(session, { catalogs: relations.filter(isCatalog), initial }),
      sequences: sequences.map(({ oid, value, called }) => [oid, value, called]),
    };
  });
}

/** Reads the visibility maps of which no bit is missing. */
async function readSetMaps(
  context: EngineContext,
  { url, relations }: { url: DatabaseUrl; relations: Relation[] },
): Promise<NonNullable<BaseEvidence['maps']>> {
  await using session = await connect(context, url);
  const maps = await readMapsApart(session, relations);
  return [...maps].filter(([, map]) => isSet(map)).map(([oid, { pages, positions }]) => [oid, pages, positions]);
}

const LARGE_OBJECTS = ['pg_largeobject', 'pg_largeobject_metadata'];

export function isCatalog({ schema }: Relation): boolean {
  return schema === 'pg_catalog' || schema === 'information_schema';
}

export function isOfLargeObjects({ schema, name }: Relation): boolean {
  return schema === 'pg_catalog' && LARGE_OBJECTS.includes(name);
}

/** Columns that change without a definition: files, and figures of the planner and of VACUUM. */
const VOLATILE = [
  'relfilenode',
  'relpages',
  'reltuples',
  'relallvisible',
  'relallfrozen',
  'relfrozenxid',
  'relminmxid',
];

/** The schemas of temporary tables are made with the first of them, and stay. */
const LASTING = `WHERE t.nspname !~ '^pg_(toast_)?temp_[0-9]+$'`;

/** Every database begins as `template0`: rows before its oldest transaction are those of all databases. */
async function readInitial(session: PostgresSession, xmin: string): Promise<string | null> {
  const border = quoteText(toXid(xmin));
  const [row] = await session.query<{ initial: string }>(
    `SELECT datfrozenxid::text AS initial FROM pg_database WHERE datname = 'template0' AND age(datfrozenxid) >= age(${border}::xid)`,
  );
  return row?.initial ?? null;
}

/** Returns the digests of catalogs, whatever the order and versions of their rows; initial rows are counted only. */
export async function digestCatalogs(
  session: PostgresSession,
  { catalogs, initial }: { catalogs: Pick<Relation, 'oid' | 'schema' | 'name'>[]; initial: string },
): Promise<BaseEvidence['catalogs']> {
  const isInitial = `age(t.xmin) >= age(${quoteText(initial)}::xid)`;
  const queries = catalogs
    .filter((one) => !LARGE_OBJECTS.includes(one.name))
    .map(
      ({ oid, schema, name }) => `SELECT ${quoteNumber(oid)}::int8 AS oid,
        encode(sha256(convert_to(concat_ws(E'\n', count(*) - count(r), string_agg(r, E'\n' ORDER BY r COLLATE "C")), 'UTF8')), 'hex') AS digest
      FROM (SELECT CASE WHEN NOT ${isInitial} THEN (to_jsonb(t) - ARRAY[${VOLATILE.map(quoteText).join(', ')}])::text END AS r
        FROM ${quoteName(schema)}.${quoteName(name)} t ${name === 'pg_namespace' ? LASTING : ''}) s`,
    );
  if (queries.length === 0) return [];
  const rows = await session.query<{ oid: number; digest: string }>(queries.join(' UNION ALL '));
  return rows.map(({ oid, digest }) => [oid, digest]);
}

export interface SequenceState {
  oid: number;
  schema: string;
  name: string;
  /** Digits, since numbers of JavaScript are too short. */
  value: string;
  called: boolean;
}

export async function readSequenceValues(session: PostgresSession): Promise<SequenceState[]> {
  const sequences = await session.query<Pick<SequenceState, 'oid' | 'schema' | 'name'>>(`
    SELECT c.oid::int8 AS oid, n.nspname AS schema, c.relname AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'S' AND c.relpersistence <> 't' ORDER BY c.oid`);
  const found: SequenceState[] = [];
  for (const some of inBatches(sequences)) {
    const values = some.map(
      ({ oid, schema, name }) =>
        `SELECT ${quoteNumber(oid)}::int8 AS oid, ${quoteText(schema)} AS schema, ${quoteText(name)} AS name,
          last_value::text AS value, is_called AS called FROM ${quoteName(schema)}.${quoteName(name)}`,
    );
    found.push(...(await session.query<SequenceState>(values.join(' UNION ALL '))));
  }
  return found;
}
