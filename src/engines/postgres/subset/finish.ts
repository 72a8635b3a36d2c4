import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connect } from '../connection/connect.ts';
import { quoteName, quotePath, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import type { ClientTools } from '../connection/tools.ts';
import type { SessionSettings } from '../connection/url.ts';
import type { OpenSource } from './open-source.ts';

interface FinishOptions {
  source: OpenSource;
  url: DatabaseUrl;
  tools: ClientTools;
  settings: SessionSettings;
}

export async function finishDatabase(
  context: EngineContext,
  { source, url, tools, settings }: FinishOptions,
): Promise<void> {
  await using session = await connect(context, url, { tools, settings });
  await setSequences(session, await source.withSession(readSequences));
  await passHighest(session);
  // Before the views, whose queries are planned with them.
  await session.execute('ANALYZE');
  await refreshViews(session, await source.withSession(readPopulatedViews));
}

interface Sequence {
  schema: string;
  name: string;
  /** Text, since the value may exceed a JavaScript number. */
  last_value: string;
}

function readSequences(session: PostgresSession): Promise<Sequence[]> {
  return session.query<Sequence>(`
    SELECT schemaname AS schema, sequencename AS name, last_value::text FROM pg_sequences
    WHERE last_value IS NOT NULL`);
}

/** New rows get numbers unused in the source. Sequences of extensions may be absent. */
async function setSequences(session: PostgresSession, sequences: Sequence[]): Promise<void> {
  for (const { schema, name, last_value } of sequences) {
    const sequence = `to_regclass(${quoteText(quotePath(schema, name))})`;
    await session.execute(`SELECT setval(${sequence}, ${quoteText(last_value)}::int8) WHERE ${sequence} IS NOT NULL`);
  }
}

interface SequenceUse {
  schema: string;
  sequence: string;
  table_schema: string;
  table: string;
  column: string;
  ascending: boolean;
}

/** Sequences of the source may lag behind rows with explicit numbers. */
async function passHighest(session: PostgresSession): Promise<void> {
  const used = await session.query<SequenceUse>(`
    SELECT DISTINCT sn.nspname AS schema, s.relname AS sequence, cn.nspname AS table_schema, c.relname AS table,
      a.attname AS column, q.seqincrement > 0 AS ascending
    FROM (
      SELECT objid AS sequence, refobjid AS relation, refobjsubid AS number FROM pg_depend
      WHERE classid = 'pg_class'::regclass AND refclassid = 'pg_class'::regclass AND refobjsubid > 0 AND deptype IN ('a', 'i')
      UNION
      SELECT d.refobjid, v.adrelid, v.adnum FROM pg_depend d JOIN pg_attrdef v ON v.oid = d.objid
      WHERE d.classid = 'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass
    ) u JOIN pg_class s ON s.oid = u.sequence AND s.relkind = 'S' JOIN pg_sequence q ON q.seqrelid = s.oid
    JOIN pg_namespace sn ON sn.oid = s.relnamespace
    JOIN pg_class c ON c.oid = u.relation AND c.relkind IN ('r', 'p') JOIN pg_namespace cn ON cn.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.number
    WHERE a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)`);
  for (const { schema, sequence, table_schema, table, column, ascending } of used) {
    const [extreme, beyond] = ascending ? (['max', '>'] as const) : (['min', '<'] as const);
    const own = quotePath(schema, sequence);
    const from = quotePath(table_schema, table);
    await session.execute(`
      SELECT setval(${quoteText(own)}, r.value) FROM (SELECT ${extreme}(${quoteName(column)})::int8 AS value FROM ${from}) r, ${own} s
      WHERE r.value ${beyond} s.last_value OR r.value = s.last_value AND NOT s.is_called`);
  }
}

function readPopulatedViews(session: PostgresSession): Promise<View[]> {
  return session.query<View>(`
    SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'm' AND c.relispopulated`);
}

async function refreshViews(session: PostgresSession, populated: View[]): Promise<void> {
  for (const { schema, name } of await materializedViewsInOrder(session)) {
    if (!populated.some((view) => view.schema === schema && view.name === name)) continue;
    const view = quotePath(schema, name);
    await session.execute(`REFRESH MATERIALIZED VIEW ${view}`);
    await session.execute(`ANALYZE ${view}`);
  }
}

interface View {
  schema: string;
  name: string;
}

interface Relation extends View {
  oid: number;
  materialized: boolean;
}

/**
 * Materialized views after the views they read. Ordered here with a visited set: rules may form cycles, on which a
 * recursive query does not end.
 */
async function materializedViewsInOrder(session: PostgresSession): Promise<View[]> {
  const relations = await session.query<Relation>(`
    SELECT c.oid::int8 AS oid, n.nspname AS schema, c.relname AS name, c.relkind = 'm' AS materialized
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('v', 'm')
    ORDER BY n.nspname, c.relname`);
  const uses = await session.query<{ view: number; used: number }>(`
    SELECT DISTINCT r.ev_class::int8 AS view, d.refobjid::int8 AS used FROM pg_rewrite r
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
    WHERE r.rulename = '_RETURN' AND d.refobjid <> r.ev_class`);
  const usedBy = Map.groupBy(uses, ({ view }) => view);
  const byOid = new Map(relations.map((relation) => [relation.oid, relation]));
  const visited = new Set<number>();
  const ordered: View[] = [];
  // No recursion: chains of views may exceed the call stack.
  for (const { oid } of relations) {
    const stack = [{ oid, entered: false }];
    for (let next = stack.pop(); next; next = stack.pop()) {
      const relation = byOid.get(next.oid);
      if (!relation) continue;
      if (next.entered) {
        if (relation.materialized) ordered.push({ schema: relation.schema, name: relation.name });
        continue;
      }
      if (visited.has(next.oid)) continue;
      visited.add(next.oid);
      stack.push({ oid: next.oid, entered: true });
      for (const { used } of usedBy.get(next.oid) ?? []) stack.push({ oid: used, entered: false });
    }
  }
  return ordered;
}
