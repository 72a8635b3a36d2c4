import { randomBytes } from 'node:crypto';
import type { ColumnFacts } from '../../../sanitize/column-facts.ts';
import type { Replaceable } from '../../../sanitize/replacements.ts';
import { type KeyPair, section, touchedKeys, updateOf, withPartners } from '../../../sanitize/suggestion.ts';
import type { EngineContext, SuggestionRequest } from '../../engine.ts';
import { suggestedQuery } from '../../shared/sanitize/suggested-query.ts';
import { connect } from '../connection/connect.ts';
import type { MysqlSession } from '../connection/session.ts';
import type { Code } from '../definitions/definitions.ts';
import { readCode, readDefinitions } from '../definitions/read-definitions.ts';
import { withoutDefiner } from '../definitions/statement-text.ts';
import { lexicalModeOf } from '../definitions/tokens.ts';
import { inDatabase, quoteName, quoteText } from '../quote.ts';
import { DIALECT, DROP_FUNCTIONS, FUNCTIONS } from './replacements.ts';

/**
 * Replaces each value by a function of its hash: equal values stay equal in all tables, as foreign keys need;
 * different ones stay different in unique columns.
 */
export async function suggestQuery(
  context: EngineContext,
  { url, columns, suspects }: SuggestionRequest,
): Promise<string> {
  const database = url.database ?? '';
  await using session = await connect(context, url);
  const keys = await readForeignKeys(session, { database, schema: columns[0]?.schema ?? '' });
  const all = withPartners(suspects, { columns, pairs: keys.flatMap(({ pairs }) => pairs) });
  const tables = Map.groupBy(all, ({ facts }) => facts.table);
  const touched = touchedKeys(keys, all);
  const triggers = await triggersOf(session, database, [...tables.keys()]);
  const touchingClocks = await clocksOf(session, database);
  const salt = quoteText(randomBytes(12).toString('hex'));
  return suggestedQuery({ column: 'database.table.column', hash: 'tool_hash' }, [
    FUNCTIONS.replace('%', salt),
    section(
      'These triggers would log the old values: they are recreated at the end.',
      triggers.map(({ name }) => `DROP TRIGGER ${quoteName(name)};`),
    ),
    section(
      'Both sides of these foreign keys change: they are recreated, and thereby checked, at the end.',
      touched.map(({ table, name }) => `ALTER TABLE ${quoteName(table)} DROP FOREIGN KEY ${quoteName(name)};`),
    ),
    ...[...tables].map(([table, ofTable]) =>
      updateOf(
        { columns: ofTable, name: quoteName(table) },
        {
          dialect: DIALECT,
          inSql,
          extra: touchingClocks(
            table,
            ofTable.map(({ facts }) => facts),
          ),
        },
      ),
    ),
    section('Recreate triggers and foreign keys, and drop the functions.', [
      ...touched.map(({ table, definition }) => `ALTER TABLE ${quoteName(table)} ADD ${definition};`),
      ...triggers.map(createTrigger),
      ...DROP_FUNCTIONS,
    ]),
  ]);
}

interface ForeignKey {
  table: string;
  name: string;
  definition: string;
  pairs: KeyPair[];
}

async function readForeignKeys(
  session: MysqlSession,
  { database, schema }: { database: string; schema: string },
): Promise<ForeignKey[]> {
  const rows = await session.query<Record<'table_' | 'name' | 'column_' | 'ref_table' | 'ref_column', string>>(`
    SELECT TABLE_NAME AS table_, CONSTRAINT_NAME AS name, COLUMN_NAME AS column_,
      REFERENCED_TABLE_NAME AS ref_table, REFERENCED_COLUMN_NAME AS ref_column
    FROM information_schema.KEY_COLUMN_USAGE
    WHERE ${inDatabase('TABLE_SCHEMA', database)} AND REFERENCED_TABLE_SCHEMA = TABLE_SCHEMA
    ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`);
  const { tables } = await readDefinitions(session, database, () => {});
  const ofKey = Map.groupBy(rows, ({ table_, name }) => JSON.stringify([table_, name]));
  return [...ofKey.values()].flatMap((pairs) => {
    const { table_: table = '', name = '' } = pairs[0] ?? {};
    const definitions = tables.find((one) => one.name === table)?.foreignKeys ?? [];
    const definition = definitions.find((clause) => clause.startsWith(`CONSTRAINT ${quoteName(name)} `));
    if (definition === undefined) return [];
    const places = pairs.map(
      ({ column_, ref_table, ref_column }): KeyPair => [
        { schema, table, column: column_ },
        { schema, table: ref_table, column: ref_column },
      ],
    );
    return [{ table, name, definition, pairs: places }];
  });
}

async function triggersOf(session: MysqlSession, database: string, tables: string[]): Promise<Code[]> {
  if (tables.length === 0) return [];
  const rows = await session.query<{ name: string }>(`
    SELECT TRIGGER_NAME AS name FROM information_schema.TRIGGERS
    WHERE ${inDatabase('TRIGGER_SCHEMA', database)} AND EVENT_MANIPULATION = 'UPDATE'
      AND EVENT_OBJECT_TABLE IN (${tables.map(quoteText).join(', ')})`);
  const names = new Set(rows.map(({ name }) => name));
  const { triggers } = await readCode(session, database, () => {});
  return triggers.filter(({ name }) => names.has(name));
}

function createTrigger({ create, sql_mode }: Code): string {
  return [
    `SET @mode = @@sql_mode, sql_mode = ${quoteText(sql_mode ?? '')};`,
    'DELIMITER //',
    `${withoutDefiner(create, lexicalModeOf(sql_mode))}//`,
    'DELIMITER ;',
    'SET sql_mode = @mode;',
  ].join('\n');
}

/** Columns with ON UPDATE CURRENT_TIMESTAMP, which otherwise change with each UPDATE. */
async function clocksOf(
  session: MysqlSession,
  database: string,
): Promise<(table: string, changing: ColumnFacts[]) => string[]> {
  const rows = await session.query<{ table_: string; column_: string }>(`
    SELECT TABLE_NAME AS table_, COLUMN_NAME AS column_ FROM information_schema.COLUMNS
    WHERE ${inDatabase('TABLE_SCHEMA', database)} AND EXTRA LIKE '%on update%'`);
  return (table, changing) =>
    rows
      .filter(({ table_, column_ }) => table_ === table && !changing.some(({ column }) => column === column_))
      .map(({ column_ }) => `${quoteName(column_)} = ${quoteName(column_)}`);
}

function inSql({ column, family, ignoresCase }: ColumnFacts): Pick<Replaceable, 'name' | 'text' | 'key'> {
  const name = quoteName(column);
  const text = family === 'text' ? name : `cast(${name} AS CHAR)`;
  return { name, text, key: ignoresCase ? `lower(${text})` : text };
}
