import { readServerIdentity } from '../../connection/identity.ts';
import { quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { Relation } from '../../dump/unchanged/count-rows.ts';
import { countAll, toXid } from '../../dump/unchanged/count-rows.ts';
import { readRelations } from '../../dump/unchanged/fingerprint.ts';
import { readHistory } from '../../dump/unchanged/read-state.ts';
import { betweenSessions, type Readers } from '../../dump/unchanged/readers.ts';
import {
  type Blocks,
  changedBlocks,
  HAS_MAPS,
  readMaps,
  setMap,
  type VisibilityMaps,
} from '../../dump/unchanged/visibility-maps.ts';
import { codeOwnersQuery } from '../../restore/only-rows/statements.ts';
import {
  digestCatalogs,
  isCatalog,
  isOfLargeObjects,
  readSequenceValues,
  type SequenceState,
} from './base-evidence.ts';
import {
  type ChangedVersions,
  type FoundChanges,
  isFresh,
  keepsPlaces,
  type RestoredTables,
} from './changed-versions.ts';
import type { BaseEvidence, SeenChanges } from './evidence-schema.ts';
import { type Places, pathOf, RANGE, readPlaces, within, without } from './row-places.ts';

export interface Evidence {
  evidence: BaseEvidence | undefined;
  /** The plan's, if any. */
  seen?: SeenChanges | null;
  kept?: RestoredTables | undefined;
}

const MOST_TRANSACTIONS = 2n ** 30n;

/**
 * Finds what has changed since the base copy was made, in the transaction of the session; or the reason for which that
 * cannot be reset in place. The README of `dump/unchanged` has the proof: a version that is visible and older than the
 * border was visible then, at the same place, and an equal count makes the rows the same.
 */
export async function findChanges(
  readers: Readers,
  { evidence, seen = null, kept }: Evidence,
): Promise<FoundChanges | string> {
  const { session } = readers;
  const [role] = await session.query<{ superuser: boolean; at: string; maps: boolean }>(
    `SELECT current_setting('is_superuser') = 'on' AS superuser, ${PRESENT} AS at,
      ${HAS_MAPS} AND current_setting('transaction_read_only') = 'off' AS maps`,
  );
  if (!role?.superuser) return 'the role is no superuser, so triggers would fire';
  if (!evidence) return 'the base copy has no record of its row versions';
  const { xmin } = evidence;
  const found = { at: role.at, xmin, border: toXid(xmin), history: '', relations: [], maps: new Map() };
  if (seen?.at === role.at && seen.xmin === xmin) {
    const maps: VisibilityMaps = role.maps && evidence.maps?.length ? await readMaps(session, seen.tables) : new Map();
    const blocksOf = blocksSinceCopy(evidence, maps);
    const suspects = seen.tables.map((table) => ({ ...table, blocks: few(blocksOf(table), table) }));
    const sessions = await readers.share(pagesOf(suspects.filter(({ blocks }) => blocks === null)));
    const tables = await betweenSessions(sessions, suspects, async (own, { blocks, ...table }) => {
      if (!blocks) return table;
      const read = await readPlaces(own, { table, blocks, isFresh: isFresh(found.border) });
      return { ...table, blocks, places: { ...read, missing: null, rest: NO_PLACES } };
    });
    return { ...found, tables, sequences: await changedSequences(session, evidence), sessions };
  }
  const now = await readHistory(session, await readServerIdentity(session));
  if (!now) return 'row versions prove nothing on this server';
  const age = BigInt(now.xmax) - BigInt(xmin);
  const { system, timeline } = now.history;
  if (system !== evidence.system || timeline !== evidence.timeline) return 'the server has another history';
  if (age < 0n || age >= MOST_TRANSACTIONS) return 'too many transactions have run since the load';
  const relations = await readRelations(session);
  if (!relations) return 'it has tables that are unlogged, unreadable or not stored as usual';
  const recorded = new Map(evidence.relations.map(([oid, filenode, rows]) => [oid, { filenode, rows }]));
  if (relations.length !== recorded.size || relations.some(({ oid }) => !recorded.has(oid))) return DEFINITIONS;
  const maps: VisibilityMaps =
    role.maps && (kept || evidence.maps?.length) ? await readMaps(session, relations) : new Map();
  const history = JSON.stringify([xmin, now.history]);
  const suspects = findSuspects(relations, { recorded, kept, maps, history, evidence });
  // What an earlier reset has written has probably changed again.
  const isKnown = (one: Suspect): boolean =>
    kept ? Boolean(one.kept?.places) : one.blocks !== null && !isCatalog(one);
  const [known, others] = [suspects.filter(isKnown), suspects.filter((one) => !isKnown(one))];
  const sessions = await readers.share(pagesOf(kept ? suspects : others));
  const counted = await countAll({ sessions, relations: others, border: xmin });
  const changed = others.filter(({ rows, rewritten }, at) => {
    const now = counted[at];
    return rewritten || !now || now.fresh || now.rows !== rows;
  });
  if (changed.some(isOfLargeObjects)) return 'large objects have changed';
  if (!(await areDefinitionsSame(session, { evidence, changed: changed.filter(isCatalog) }))) return DEFINITIONS;
  const examined = [...known, ...changed.filter((relation) => !isCatalog(relation))];
  // The server reads the next table while this one is taken.
  const versions = await betweenSessions([...sessions, ...sessions], examined, (own, table) =>
    findVersions(own, { table, border: found.border, keeps: kept !== undefined }),
  );
  const different = versions.filter(({ fresh, missing, rewritten }) => rewritten || fresh > 0 || missing !== 0);
  const obstacle = await findObstacle(session, different);
  if (obstacle !== null) return obstacle;
  const sizes = await readSizes(session, different);
  const tables = different.map((table, at) => ({ ...table, ...(sizes[at] ?? { toasted: true, bytes: 0 }) }));
  const sequences = await changedSequences(session, evidence);
  return { ...found, tables, history, relations, maps, sequences, sessions };
}

/** A relation that may have other rows, if not all of its blocks, then in these. */
interface Suspect extends Omit<ChangedVersions, 'fresh' | 'missing' | 'toasted' | 'bytes' | 'places' | 'blocks'> {
  blocks: Blocks[] | null;
}

function pagesOf(suspects: Pick<Suspect, 'pages'>[]): number {
  return suspects.reduce((sum, { pages }) => sum + pages, 0);
}

interface Known {
  recorded: Map<number, { filenode: number; rows: number }>;
  kept: RestoredTables | undefined;
  maps: VisibilityMaps;
  history: string;
  evidence: BaseEvidence;
}

/** Without the relations that the maps prove to be as at the last reset, or else as in the base copy. */
function findSuspects(relations: Relation[], { recorded, kept, maps, history, evidence }: Known): Suspect[] {
  const blocksOf = blocksSinceCopy(evidence, maps);
  return relations.flatMap((relation): Suspect[] => {
    const [before, one] = [recorded.get(relation.oid), kept?.get(relation.oid)];
    if (!before) return [];
    const rewritten = before.filenode !== relation.filenode;
    const isTrue = !rewritten && one?.history === history && one.filenode === relation.filenode;
    const blocks = isTrue ? changedBlocks(one.map, maps.get(relation.oid)) : blocksOf({ ...relation, rewritten });
    if (blocks?.length === 0) return [];
    return [
      {
        ...relation,
        rows: before.rows,
        rewritten,
        kept: isTrue ? one : undefined,
        blocks: kept ? blocks : few(blocks, relation),
      },
    ];
  });
}

/** Returns what finds the blocks of a relation that may have other rows than in the base copy. */
function blocksSinceCopy(
  { maps: set = [] }: BaseEvidence,
  maps: VisibilityMaps,
): (relation: Pick<ChangedVersions, 'oid' | 'filenode' | 'rewritten'>) => Blocks[] | null {
  const initial = new Map(set.map(([oid, pages, positions]) => [oid, { pages, positions }]));
  return ({ oid, filenode, rewritten }) => {
    const [map, before] = [maps.get(oid), initial.get(oid)];
    return rewritten || !map || !before ? null : changedBlocks(setMap({ ...before, filenode }, map), map);
  };
}

/** More blocks are counted sooner than their places are read, here and in the base copy. */
function few(blocks: Blocks[] | null, { pages }: Pick<Relation, 'pages'>): Blocks[] | null {
  const sum = blocks?.reduce((all, [from, to]) => all + to - from, 0) ?? 0;
  return sum <= Math.min(RANGE, pages / 2) ? blocks : null;
}

/** No transaction has ended between two moments at which it is equal: each has a number above it, or is one of those that run. */
const PRESENT = `concat_ws(' ', pg_current_snapshot(), (SELECT oid FROM pg_database WHERE datname = current_database()),
  extract(epoch FROM pg_postmaster_start_time()), (SELECT extract(epoch FROM stats_reset) FROM pg_stat_bgwriter))`;

const DEFINITIONS = 'definitions have changed';

/** Most catalogs have no new row: the others are compared by their content. */
async function areDefinitionsSame(
  session: PostgresSession,
  { evidence, changed }: { evidence: BaseEvidence; changed: Relation[] },
): Promise<boolean> {
  const before = new Map(evidence.catalogs);
  const now = await digestCatalogs(session, { catalogs: changed, initial: evidence.initial });
  return now.every(([oid, digest]) => before.get(oid) === digest);
}

/** A superuser's session fires no triggers and checks no references, but for some; code of others must not run in it. */
async function findObstacle(session: PostgresSession, tables: Relation[]): Promise<string | null> {
  const oids = [0, ...tables.map(({ oid }) => oid)].map(quoteNumber).join(', ');
  const [row] = await session.query<{
    views: string | null;
    always: string | null;
    hears: boolean;
    utf8: boolean;
    casts: string | null;
    subscribes: boolean;
  }>(`
    SELECT current_setting('server_encoding') = 'UTF8' AS utf8,
      (SELECT min(oid::regclass::text) FROM pg_class WHERE relkind <> 'r' AND oid IN (${oids})) AS views,
      (SELECT min(relation::text) FROM (
        SELECT tgrelid::regclass FROM pg_trigger WHERE tgenabled IN ('A', 'R') AND NOT tgisinternal AND tgrelid IN (${oids})
        UNION ALL SELECT ev_class::regclass FROM pg_rewrite WHERE ev_enabled IN ('A', 'R') AND ev_class IN (${oids})
      ) AS o (relation)) AS always,
      EXISTS (SELECT FROM pg_event_trigger WHERE evtenabled IN ('A', 'R')) AS hears,
      (SELECT min(c.oid::regclass::text) FROM pg_class c JOIN pg_cast k ON c.reltype IN (k.castsource, k.casttarget)
        WHERE c.oid IN (${oids})) AS casts,
      EXISTS (SELECT FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid WHERE d.datname = current_database()) AS subscribes`);
  if (!row?.utf8) return 'its encoding is not UTF-8';
  if (row.views !== null) return `materialized view ${row.views} has other rows`;
  // All databases share their catalog, and no copy has one.
  if (row.subscribes) return 'it has a subscription';
  if (row.casts !== null) return `a cast of its own converts rows of ${row.casts}`;
  if (row.hears) return 'an event trigger always fires';
  if (row.always !== null) return `a trigger or rule of ${row.always} always fires`;
  if (tables.length === 0) return null;
  const owners = await session.query<{ name: string }>(
    codeOwnersQuery(tables.map(({ schema, name }) => ({ schema, table: name }))),
  );
  return owners.length > 0 ? 'code of other roles would run with the rights of a superuser' : null;
}

interface VersionsToFind {
  table: Suspect;
  border: string;
  /** Later resets will need the places. */
  keeps: boolean;
}

async function findVersions(session: PostgresSession, { table: { blocks, ...table }, border, keeps }: VersionsToFind) {
  const { rows, rewritten, kept, pages } = table;
  const condition = isFresh(kept ? toXid(kept.border) : border);
  const isLimited = !keeps && blocks !== null;
  if (rewritten || !(kept?.places || isLimited || keepsPlaces({ pages, rows, keeps }))) {
    const [row] = await session.query<{ all: number; fresh: number }>(`
      SELECT count(*) AS all, count(*) FILTER (WHERE ${condition}) AS fresh FROM ONLY ${pathOf(table)}`);
    if (!row) throw new Error('a count has no row');
    const fresh = rewritten ? row.all : row.fresh;
    return { ...table, fresh, missing: rows - (row.all - fresh) };
  }
  const whole: Blocks[] = [[0, pages]];
  const read = await readPlaces(session, {
    table,
    blocks: kept?.places || isLimited ? (blocks ?? whole) : whole,
    isFresh: condition,
  });
  const { length: fresh } = read.fresh;
  if (isLimited) return { ...table, blocks, fresh, missing: null, places: { ...read, missing: null, rest: NO_PLACES } };
  const before = kept?.places ?? null;
  const inside = before && (blocks ? within(before, blocks) : before);
  const missing = inside && without(inside, read.old);
  const rest = before && inside ? without(before, inside) : NO_PLACES;
  return {
    ...table,
    fresh,
    missing: missing ? missing.length : rows - read.old.length,
    places: { ...read, missing, rest },
  };
}

const NO_PLACES: Places = new Float64Array();

async function readSizes(session: PostgresSession, tables: { oid: number }[]): Promise<TableSize[]> {
  const oids = `{${tables.map(({ oid }) => oid).join(',')}}`;
  return session.query<TableSize>(`
    SELECT pg_table_size(c.oid) AS bytes, (c.reltoastrelid <> 0 AND pg_relation_size(c.reltoastrelid) > 0) IS TRUE AS toasted
    FROM unnest(${quoteText(oids)}::oid[]) WITH ORDINALITY AS o (oid, at) LEFT JOIN pg_class c ON c.oid = o.oid ORDER BY o.at`);
}

type TableSize = Pick<ChangedVersions, 'toasted' | 'bytes'>;

async function changedSequences(session: PostgresSession, evidence: BaseEvidence): Promise<SequenceState[]> {
  const before = new Map(evidence.sequences.map(([oid, value, called]) => [oid, { value, called }]));
  return (await readSequenceValues(session)).flatMap((now) => {
    const then = before.get(now.oid);
    return then && (then.value !== now.value || then.called !== now.called) ? [{ ...now, ...then }] : [];
  });
}
