import { tableName } from '../../../text/table-names.ts';
import type { ColumnFacts, ConstraintFacts, RehearsalFacts } from '../../facets/rehearsal-facts.ts';
import { serverOf } from '../catalog/introspect.ts';
import { inDatabase, tablesIn } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import type { DatabaseFacts } from './relations.ts';

const CONSTRAINTS: Record<string, ConstraintFacts['kind']> = {
  ...{ 'PRIMARY KEY': 'primary', UNIQUE: 'unique', 'FOREIGN KEY': 'foreign', CHECK: 'check' },
};

/** Longer, a wait for a lock is as good as without a limit; the server's own is a day or a year. */
const LIMITED_S = 60;

/** Reads the tables, and how sessions begin, before a migration. */
export async function readRehearsalFacts(
  session: Pick<MysqlSession, 'query'>,
  { flavour, database, tables }: Pick<DatabaseFacts, 'flavour' | 'database' | 'tables'>,
): Promise<RehearsalFacts> {
  const within = tablesIn(database);
  const columns = await session.query<{ table_: string; name: string; type: string; nullable: string }>(`
    SELECT TABLE_NAME AS table_, COLUMN_NAME AS name, COLUMN_TYPE AS type, IS_NULLABLE AS nullable
    FROM information_schema.COLUMNS WHERE ${within} ORDER BY TABLE_NAME, ORDINAL_POSITION`);
  const indexes = await session.query<{ table_: string; name: string }>(`
    SELECT DISTINCT TABLE_NAME AS table_, INDEX_NAME AS name FROM information_schema.STATISTICS WHERE ${within}`);
  const constraints = await session.query<{ table_: string; name: string; kind: string }>(`
    SELECT TABLE_NAME AS table_, CONSTRAINT_NAME AS name, CONSTRAINT_TYPE AS kind
    FROM information_schema.TABLE_CONSTRAINTS WHERE ${within}`);
  const triggers = await session.query<{ table_: string; name: string }>(`
    SELECT EVENT_OBJECT_TABLE AS table_, TRIGGER_NAME AS name FROM information_schema.TRIGGERS
    WHERE ${inDatabase('TRIGGER_SCHEMA', database)}`);
  const [limit] = await session.query<{ seconds: number }>('SELECT @@GLOBAL.lock_wait_timeout AS seconds');
  const [columnsOf, indexesOf] = [byTable(columns), byTable(indexes)];
  const [constraintsOf, triggersOf] = [byTable(constraints), byTable(triggers)];
  return {
    tables: new Map(
      [...tables].map(([name, { rows }]) => [
        tableName(database, name),
        {
          rows,
          columns: (columnsOf.get(name) ?? []).map(columnFacts),
          indexes: (indexesOf.get(name) ?? []).map((index) => index.name),
          triggers: (triggersOf.get(name) ?? []).map((trigger) => trigger.name),
          constraints: (constraintsOf.get(name) ?? []).map(constraintFacts),
        },
      ]),
    ),
    isMariadb: flavour === 'mariadb',
    copiesOnline: flavour === 'mariadb' && (await copiesOnline(session)),
    searchPath: [database],
    limitsLockWaits: Number(limit?.seconds ?? Number.POSITIVE_INFINITY) <= LIMITED_S,
  };
}

/** MariaDB from 11.2 on, except with `old_mode=LOCK_ALTER_TABLE_COPY`. https://mariadb.com/kb/en/online-schema-change/ */
async function copiesOnline(session: Pick<MysqlSession, 'query'>): Promise<boolean> {
  const [server] = await session.query<{ version: string; modes: string }>(
    'SELECT VERSION() AS version, @@old_mode AS modes',
  );
  const [major = 0, minor = 0] = serverOf(server?.version ?? '')
    .version.split('.')
    .map(Number);
  const isSince = major > 11 || (major === 11 && minor >= 2);
  return isSince && !(server?.modes ?? '').includes('LOCK_ALTER_TABLE_COPY');
}

function byTable<Row extends { table_: string }>(rows: Row[]): Map<string, Row[]> {
  return Map.groupBy(rows, ({ table_ }) => table_);
}

/** Names of columns have no case. */
function columnFacts({ name, type, nullable }: { name: string; type: string; nullable: string }): ColumnFacts {
  return { name: name.toLowerCase(), type, isNullable: nullable === 'YES', views: [] };
}

function constraintFacts({ name, kind }: { name: string; kind: string }): ConstraintFacts {
  return { name, kind: CONSTRAINTS[kind] ?? 'check', definition: '', isValidated: true };
}
