import pg from 'pg';
import { openSession } from '../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';
import { eventually } from '../postgres/postgres-server.ts';
import type { AnyServer } from './any-server.ts';

/** A server seen through a session that stays open: for thousands of looks, each without a program that starts. */
export interface WatchedServer extends AsyncDisposable {
  /** Those of users, in order. */
  databases(): Promise<string[]>;
  /** The first column of the rows of a query, in no database. */
  column(query: string): Promise<string[]>;
  /** Waits until the server has ended what lost clients had sent. */
  quiet(): Promise<void>;
  /** Definitions and rows of a database, as text: two that are equal have equal dumps. */
  facts(database: string): Promise<string>;
}

export function watchServer(server: AnyServer): Promise<WatchedServer> {
  return server.kind === 'postgres' ? watchPostgres(server) : watchMysql(server);
}

async function watchPostgres(server: AnyServer): Promise<WatchedServer> {
  const client = await connected(server.url('postgres'));
  const column = (query: string) => columnOf(client, query);
  return {
    column,
    databases: () =>
      column("SELECT datname FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres' ORDER BY 1"),
    quiet: () =>
      untilNone(() =>
        column(`SELECT query FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`),
      ),
    async facts(database) {
      const own = await connected(server.url(database));
      try {
        const definitions = await columnOf(own, POSTGRES_FACTS);
        const tables = await columnOf(own, `SELECT c.oid::regclass FROM pg_class c ${OWN} AND c.relkind IN ('r', 'm')`);
        const rows = tables.map((table) => `SELECT '${table.replaceAll("'", "''")} ' || t::text FROM ${table} t`);
        const found = rows.length === 0 ? [] : await columnOf(own, rows.join(' UNION ALL '));
        return [...definitions, ...found.sort()].join('\n');
      } finally {
        await own.end();
      }
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

async function columnOf(client: pg.Client, text: string): Promise<string[]> {
  const { rows } = await client.query<unknown[]>({ text, rowMode: 'array' });
  return rows.map(([value]) => String(value));
}

const OWN = `JOIN pg_namespace n ON n.oid = c.relnamespace
  AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'`;
/** Each with the objects of the world of `test/contracts/statements.ts`. */
const POSTGRES_FACTS = [
  `SELECT c.oid::regclass::text, c.relkind::text, c.relpersistence::text, c.relispopulated::text, c.reloptions::text,
     CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END FROM pg_class c ${OWN}`,
  `SELECT a.attrelid::regclass::text, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull::text,
     row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum)::text, pg_get_expr(d.adbin, d.adrelid)
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid ${OWN}
     LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
     WHERE a.attnum > 0 AND NOT a.attisdropped`,
  `SELECT c.oid::regclass::text, k.conname, pg_get_constraintdef(k.oid), k.convalidated::text, '', ''
     FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid ${OWN}`,
  `SELECT pg_get_indexdef(i.indexrelid), i.indisvalid::text, '', '', '', ''
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid ${OWN}`,
  `SELECT pg_get_functiondef(c.oid), '', '', '', '', '' FROM pg_proc c
     ${OWN.replace('relnamespace', 'pronamespace')} WHERE c.prokind IN ('f', 'p')`,
  `SELECT pg_get_triggerdef(t.oid), t.tgenabled::text, '', '', '', ''
     FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid ${OWN} WHERE NOT t.tgisinternal`,
  `SELECT s.schemaname, s.sequencename, s.start_value::text, s.increment_by::text, s.last_value::text,
     s.max_value::text FROM pg_sequences s`,
  `SELECT 'large object', l.loid::text, l.pageno::text, md5(l.data), '', '' FROM pg_largeobject l`,
  `SELECT 'comment', c.classoid::regclass::text, c.objsubid::text, c.description, '', ''
     FROM pg_description c
     -- A load in place creates the schema public again.
     WHERE c.objoid >= 16384 OR c.classoid = 'pg_namespace'::regclass AND c.objoid = to_regnamespace('public')`,
  `SELECT 'schema', nspname, '', '', '', '' FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_t%'`,
]
  .map((query) => `SELECT array_to_string(ARRAY[a, b, c, d, e, f], '|', '-') FROM (${query}) q (a, b, c, d, e, f)`)
  .join(' UNION ALL ')
  .concat(' ORDER BY 1');

async function watchMysql(server: AnyServer): Promise<WatchedServer> {
  const session = await openSession({ url: parseMysqlUrl(server.url('')) });
  const column = async (query: string): Promise<string[]> =>
    (await session.query<Record<string, unknown>>(query)).map((row) => String(Object.values(row)[0]));
  const lines = async (query: string): Promise<string[]> =>
    (await session.query<Record<string, unknown>>(query)).map((row) => JSON.stringify(row)).sort();
  return {
    column,
    databases: () =>
      column(`SELECT SCHEMA_NAME FROM information_schema.SCHEMATA
        WHERE SCHEMA_NAME NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys') ORDER BY 1`),
    quiet: () =>
      untilNone(() =>
        column(
          `SELECT CONCAT_WS(' ', COMMAND, STATE, INFO) FROM information_schema.PROCESSLIST
             WHERE USER = 'root' AND ID <> CONNECTION_ID()`,
        ),
      ),
    async facts(database) {
      const of = (prefix: string) => `${prefix}_SCHEMA = '${database}'`;
      const facts = [
        await lines(`SELECT ROUTINE_NAME, ROUTINE_TYPE, DTD_IDENTIFIER, ROUTINE_DEFINITION, IS_DETERMINISTIC,
          SQL_DATA_ACCESS, SECURITY_TYPE, SQL_MODE, DEFINER FROM information_schema.ROUTINES WHERE ${of('ROUTINE')}`),
        await lines(`SELECT TRIGGER_NAME, EVENT_MANIPULATION, EVENT_OBJECT_TABLE, ACTION_TIMING, ACTION_STATEMENT,
          SQL_MODE, DEFINER FROM information_schema.TRIGGERS WHERE ${of('TRIGGER')}`),
        await lines(`SELECT EVENT_NAME, EVENT_DEFINITION, INTERVAL_VALUE, INTERVAL_FIELD, STATUS, ON_COMPLETION,
          TIME_ZONE, SQL_MODE, DEFINER FROM information_schema.EVENTS WHERE ${of('EVENT')}`),
      ];
      const tables = await column(
        // The mark of a branch is no content.
        `SELECT TABLE_NAME FROM information_schema.TABLES WHERE ${of('TABLE')} AND TABLE_NAME NOT LIKE 'tool-%' ORDER BY 1`,
      );
      for (const table of tables) {
        const name = `\`${database}\`.\`${table}\``;
        facts.push(await lines(`SHOW CREATE TABLE ${name}`), await lines(`SELECT * FROM ${name}`));
      }
      // MySQL keeps the semicolon after a body that the packet of a swap has created, until the run ends.
      return facts.flat().join('\n').replaceAll('\\n; ', ' ').replaceAll('\\n;"', '"');
    },
    [Symbol.asyncDispose]: () => session.close(),
  };
}

async function untilNone(others: () => Promise<string[]>): Promise<void> {
  let last: string[] = [];
  await eventually(
    async () => {
      last = await others();
      return last.length === 0;
    },
    { deadline: 60_000 },
  ).catch((cause) => {
    throw new Error(`sessions remain: ${last.join('; ')}`, { cause });
  });
}
