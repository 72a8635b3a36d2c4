import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connect } from '../connection/connect.ts';
import { quoteName, quotePath, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import type { ClientTools } from '../connection/tools.ts';
import type { SessionSettings } from '../connection/url.ts';
import { dependenciesFirst } from '../restore/dependencies-first.ts';
import type { OpenSource } from './open-source.ts';

interface FinishOptions {
  source: OpenSource;
  url: DatabaseUrl;
  tools: ClientTools;
  settings: SessionSettings;
}

export async function finishDatabase(context: EngineContext, { source, url, tools, settings }: FinishOptions) {
  await using session = await connect(context, url, { tools, settings });
  await setSequences(session, await source.withSession(readSequences));
  await passHighest(session);
  // Before the views, whose queries are planned with them.
  await session.execute('ANALYZE');
  await refreshViews(session, await source.withSession((reading) => readViews(reading, 'c.relispopulated')));
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

/** Quoted paths of materialized views. After a restore, oids follow the order of dependencies, but for cycles by rules. */
async function readViews(session: PostgresSession, which: string): Promise<string[]> {
  const views = await session.query<{ schema: string; name: string }>(`
    SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'm' AND ${which} ORDER BY c.oid`);
  return views.map(({ schema, name }) => quotePath(schema, name));
}

/** SQLSTATE where a materialized view reads another one that has no rows yet. */
const NOT_POPULATED = '55000';

async function refreshViews(session: PostgresSession, populated: string[]): Promise<void> {
  const views = (await readViews(session, 'true')).filter((view) => populated.includes(view));
  const [refused] = await dependenciesFirst(views, {
    refusal: NOT_POPULATED,
    async work(view) {
      await session.execute(`REFRESH MATERIALIZED VIEW ${view}`);
      await session.execute(`ANALYZE ${view}`);
    },
  });
  if (refused) throw refused;
}
