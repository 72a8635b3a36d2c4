import { inDatabase, quoteName, quoteText } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { keysWithOwnRows, readTableList } from '../tables.ts';
import type { DanglingKey, Definitions } from './definitions.ts';
import { readCode, type Unreadable } from './read-definitions.ts';
import { readSequenceDefaults } from './sequence-defaults.ts';
import { showTables } from './show-tables.ts';
import { splitTable } from './statement-text.ts';
import { foreignKeyName, referredTable } from './table-entries.ts';

/** Separates foreign keys to missing tables. Names that differ in case may be one table to the server. */
export function withDanglingApart<Given extends Definitions>(definitions: Given): Given {
  const there = new Set(definitions.tables.map(({ name }) => name));
  const isDangling = (clause: string): boolean => {
    const referred = referredTable(clause);
    return referred !== null && !there.has(referred);
  };
  const dangling = definitions.tables.flatMap(({ name, foreignKeys }) =>
    foreignKeys.filter(isDangling).map((clause) => danglingKey(name, clause)),
  );
  const tables = definitions.tables.map((table) => ({
    ...table,
    foreignKeys: table.foreignKeys.filter((clause) => !isDangling(clause)),
  }));
  return { ...definitions, tables, dangling };
}

function danglingKey(table: string, clause: string): DanglingKey {
  return { table, name: foreignKeyName(clause) ?? '', clause };
}

/** Everything to create again when the tables move to another database. */
export async function readDependents(session: MysqlSession, database: string, unreadable: Unreadable) {
  return {
    ...(await readCode(session, database, unreadable)),
    dangling: await readDangling(session, database),
    defaults: await readSequenceDefaults(session, database),
  };
}

async function readDangling(session: MysqlSession, database: string): Promise<DanglingKey[]> {
  const there = new Set((await readTableList(session, database)).map(({ name }) => name));
  const keys = await session.query<{ table_: string; name: string; referred: string | null }>(`
    SELECT TABLE_NAME AS table_, CONSTRAINT_NAME AS name, REFERENCED_TABLE_NAME AS referred
    FROM information_schema.REFERENTIAL_CONSTRAINTS
    WHERE ${await keysWithOwnRows(session, `${inDatabase('CONSTRAINT_SCHEMA', database)} AND ${inDatabase('UNIQUE_CONSTRAINT_SCHEMA', database)}`)}`);
  const dangling = keys.filter(({ referred }) => referred === null || !there.has(referred));
  const tables = [...Map.groupBy(dangling, ({ table_ }) => table_)];
  const shown = await showTables(
    session,
    database,
    tables.map(([table]) => table),
  );
  return tables.flatMap(([table, ofTable], at) => {
    const names = new Set(ofTable.map(({ name }) => name));
    const create = shown[at] ?? '';
    if (create instanceof SqlError) throw create;
    const { foreignKeys } = splitTable(table, create);
    return foreignKeys.map((clause) => danglingKey(table, clause)).filter(({ name }) => names.has(name));
  });
}

export async function createDangling(session: MysqlSession, keys: DanglingKey[]): Promise<void> {
  await withoutChecks(session, keys, async ({ table, clause }, { isThere }) => {
    if (!isThere) await session.execute(`ALTER TABLE ${quoteName(table)} ADD ${clause}`);
  });
}

export async function dropDangling(session: MysqlSession, keys: DanglingKey[]): Promise<void> {
  await withoutChecks(session, keys, async ({ table, name }, { isThere }) => {
    if (isThere) await session.execute(`ALTER TABLE ${quoteName(table)} DROP FOREIGN KEY ${quoteName(name)}`);
  });
}

async function withoutChecks(
  session: MysqlSession,
  keys: DanglingKey[],
  change: (key: DanglingKey, found: { isThere: boolean }) => Promise<void>,
): Promise<void> {
  if (keys.length === 0) return;
  await session.execute('SET @tool_checks = @@foreign_key_checks, foreign_key_checks = 0');
  for (const key of keys) {
    const rows = await session.query(`
      SELECT 1 FROM information_schema.TABLE_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE() AND CONSTRAINT_TYPE = 'FOREIGN KEY'
      AND CAST(TABLE_NAME AS BINARY) = CAST(${quoteText(key.table)} AS BINARY) AND CONSTRAINT_NAME = ${quoteText(key.name)}`);
    await change(key, { isThere: rows.length > 0 });
  }
  await session.execute('SET foreign_key_checks = @tool_checks');
}
