import { inDatabase, tablesIn } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import type { MysqlDetails } from '../details-schema.ts';
import { readIndexes } from './columns.ts';
import type { Code } from './definitions/definitions.ts';
import { ownTablesIn } from './tables.ts';

/** Product of the server, checked wherever MySQL and MariaDB differ. */
export type Flavour = 'mysql' | 'mariadb';

export interface Server {
  flavour: Flavour;
  version: string;
  label: string;
}

export const LABELS: Record<Flavour, string> = { mysql: 'MySQL', mariadb: 'MariaDB' };

export async function readServer(session: MysqlSession): Promise<Server> {
  const [row] = await session.query<{ version: string }>('SELECT VERSION() AS version');
  return serverOf(row?.version ?? '');
}

/** Reports whether the server logs statements, and not rows, for its replicas. */
export async function replicatesStatements(session: MysqlSession): Promise<boolean> {
  const rows = await session.query<{ Variable_name: string; Value: string }>(
    "SHOW VARIABLES WHERE Variable_name IN ('log_bin', 'binlog_format')",
  );
  const values = new Map(rows.map((row) => [row.Variable_name.toLowerCase(), row.Value.toUpperCase()]));
  return values.get('log_bin') === 'ON' && values.get('binlog_format') === 'STATEMENT';
}

/** `10.11.6-MariaDB-0+deb12u1` → MariaDB 10.11.6. */
export function serverOf(text: string): Server {
  const flavour: Flavour = /mariadb/i.test(text) ? 'mariadb' : 'mysql';
  const version = /\d+(?:\.\d+)*/.exec(text)?.[0] ?? text;
  return { flavour, version, label: `${LABELS[flavour]} ${version}` };
}

export type Inventory = MysqlDetails['inventory'];

const INVENTORY: Record<string, (database: string, ownTables: string) => string> = {
  table: (database) =>
    `SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE ${tablesIn(database)} AND TABLE_TYPE NOT IN ('VIEW', 'SEQUENCE')`,
  sequence: (database) =>
    `SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE ${tablesIn(database)} AND TABLE_TYPE = 'SEQUENCE'`,
  view: (database) => `SELECT TABLE_NAME AS name FROM information_schema.VIEWS WHERE ${tablesIn(database)}`,
  column: (database) =>
    `SELECT CONCAT_WS('.', TABLE_NAME, COLUMN_NAME) AS name FROM information_schema.COLUMNS WHERE ${tablesIn(database)}`,
  // The constraints of a FEDERATED table would be read from its server.
  constraint: (_database, ownTables) =>
    `SELECT CONCAT_WS('.', TABLE_NAME, CONSTRAINT_NAME) AS name FROM information_schema.TABLE_CONSTRAINTS WHERE ${ownTables}`,
  trigger: (database) =>
    `SELECT CONCAT_WS('.', EVENT_OBJECT_TABLE, TRIGGER_NAME) AS name FROM information_schema.TRIGGERS WHERE ${inDatabase('TRIGGER_SCHEMA', database)}`,
  routine: (database) =>
    `SELECT CONCAT_WS(' ', LOWER(ROUTINE_TYPE), ROUTINE_NAME) AS name FROM information_schema.ROUTINES WHERE ${inDatabase('ROUTINE_SCHEMA', database)}`,
};

/** Without events, which would run in a database being restored, and without invalid views. */
export async function readInventory(session: MysqlSession, database: string, invalidViews: string[] = []) {
  const inventory: Inventory = {};
  const ownTables = await ownTablesIn(session, database);
  for (const [kind, sql] of Object.entries(INVENTORY)) {
    const rows = await session.query<{ name: string }>(sql(database, ownTables));
    inventory[kind] = rows.map((row) => row.name).sort();
  }
  const indexes = await readIndexes(session, tablesIn(database));
  inventory.index = indexes
    .map(({ table, name, columns }) => `${table}.${name} (${columns.map((column) => column.name ?? '').join()})`)
    .sort();
  const settings = await readCodeSettings(session, database);
  inventory['character set'] = settings
    .filter(({ kind }) => kind !== 'EVENT')
    .map(settingsText)
    .sort();
  return withoutViews(inventory, invalidViews);
}

export function withoutViews(inventory: Inventory, views: string[]): Inventory {
  const isOther = (line: string): boolean =>
    !views.some((view) => line.slice(0, line.lastIndexOf(': ')) === `view ${view}`);
  return {
    ...inventory,
    view: inventory.view?.filter((view) => !views.includes(view)) ?? [],
    'character set': inventory['character set']?.filter(isOther) ?? [],
  };
}

export type CodeSettings = Pick<Code, 'kind' | 'name' | 'charset' | 'collation' | 'database_collation'>;

export async function readCodeSettings(session: MysqlSession, database: string): Promise<CodeSettings[]> {
  const settings = 'CHARACTER_SET_CLIENT AS charset, COLLATION_CONNECTION AS collation';
  const queries = [
    `SELECT ROUTINE_TYPE AS kind, ROUTINE_NAME AS name, ${settings}, DATABASE_COLLATION AS database_collation
     FROM information_schema.ROUTINES WHERE ${inDatabase('ROUTINE_SCHEMA', database)}`,
    `SELECT 'VIEW' AS kind, TABLE_NAME AS name, ${settings} FROM information_schema.VIEWS WHERE ${tablesIn(database)}`,
    `SELECT 'TRIGGER' AS kind, TRIGGER_NAME AS name, ${settings}, DATABASE_COLLATION AS database_collation
     FROM information_schema.TRIGGERS WHERE ${inDatabase('TRIGGER_SCHEMA', database)}`,
    `SELECT 'EVENT' AS kind, EVENT_NAME AS name, ${settings}, DATABASE_COLLATION AS database_collation
     FROM information_schema.EVENTS WHERE ${inDatabase('EVENT_SCHEMA', database)}`,
  ];
  const found: CodeSettings[] = [];
  for (const query of queries) found.push(...(await session.query<CodeSettings>(query)));
  return found;
}

/** `view totals: latin1, latin1_swedish_ci`. Older servers call `utf8mb3` `utf8`. */
export function settingsText({ kind, name, charset, collation, database_collation }: CodeSettings): string {
  const values = [charset, collation, ...(database_collation ? [database_collation] : [])];
  return `${kind.toLowerCase()} ${name}: ${values.map((value) => value?.replace(/^utf8(?=_|$)/, 'utf8mb3') ?? '').join(', ')}`;
}

export function settingsAmong(lines: string[] | undefined, code: { kind: string; name: string }[]): string[] {
  const among = new Set(code.map(({ kind, name }) => `${kind.toLowerCase()} ${name}`));
  return (lines ?? []).filter((line) => among.has(line.slice(0, line.lastIndexOf(': '))));
}

export interface Collations {
  charset: string;
  collation: string;
}

export async function readCollations(session: MysqlSession, database: string): Promise<Collations | null> {
  const [row] = await session.query<Collations>(`
    SELECT DEFAULT_CHARACTER_SET_NAME AS charset, DEFAULT_COLLATION_NAME AS collation
    FROM information_schema.SCHEMATA WHERE ${inDatabase('SCHEMA_NAME', database)}`);
  return row ?? null;
}
