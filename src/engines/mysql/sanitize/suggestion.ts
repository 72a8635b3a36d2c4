import { randomBytes } from 'node:crypto';
import type { SuggestedTable } from '../../../results/review/suggested-query.ts';
import { type ColumnFacts, columnName } from '../../../sanitize/column-facts.ts';
import type { Replaceable } from '../../../sanitize/replacements.ts';
import { type KeyPair, suggestedColumn, withPartners } from '../../../sanitize/suggestion.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { SuggestionRequest } from '../../facets/sanitize.ts';
import { headingOf } from '../../shared/sanitize/suggested-query.ts';
import { readColumns, readForeignKeys as readForeignKeyRows } from '../catalog/columns.ts';
import type { Code } from '../catalog/definitions/definitions.ts';
import { readCode, readDefinitions } from '../catalog/definitions/read-definitions.ts';
import { withoutDefiner } from '../catalog/definitions/statement-text.ts';
import { lexicalModeOf } from '../catalog/definitions/tokens.ts';
import { connect } from '../connection/connect.ts';
import { inDatabase, quoteName, quoteText, tablesIn } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { DIALECT, DROP_FUNCTIONS, FUNCTIONS } from './replacements.ts';

/**
 * Replaces each value by a function of its hash: equal values stay equal in all tables, as foreign keys need;
 * different ones stay different in unique columns.
 */
export async function suggestQuery(context: EngineContext, { url, columns, suspects }: SuggestionRequest) {
  const database = url.database ?? '';
  await using session = await connect(context, url);
  const keys = await readForeignKeys(session, { database, schema: columns[0]?.schema ?? '' });
  const pairs = keys.flatMap((key) => key.pairs);
  const all = withPartners(suspects, { columns, pairs });
  const tables = Map.groupBy(all, ({ facts }) => facts.table);
  const triggers = await triggersOf(session, database, [...tables.keys()]);
  const clocks = await clocksOf(session, database);
  const pathOf = ({ schema, table, column }: ColumnFacts): string =>
    [schema, table, column].map((name) => quoteName(name)).join('.');
  return {
    heading: headingOf({ column: 'database.table.column', hash: 'tool_hash' }),
    functions: FUNCTIONS.replace('%', () => quoteText(randomBytes(12).toString('hex'))),
    tables: [...tables].map(([table, ofTable]): SuggestedTable => {
      const ofTriggers = triggers.get(table) ?? [];
      return {
        name: quoteName(table),
        columns: ofTable.map((suspect) => suggestedColumn(suspect, { dialect: DIALECT, inSql, pathOf, pairs })),
        before: ofTriggers.map(({ name }) => `DROP TRIGGER ${quoteName(name)};`),
        after: ofTriggers.map(createTrigger),
        unchanged: (clocks.get(table) ?? []).map((column) => ({
          column: columnName({ schema: ofTable[0]?.facts.schema ?? '', table, column }),
          sql: `${quoteName(column)} = ${quoteName(column)}`,
        })),
      };
    }),
    keys: keys.map((key) => ({
      columns: key.pairs.flat().map(columnName),
      drop: `ALTER TABLE ${quoteName(key.table)} DROP FOREIGN KEY ${quoteName(key.name)};`,
      add: `ALTER TABLE ${quoteName(key.table)} ADD ${key.definition};`,
    })),
    beforeKeys: [],
    closing: DROP_FUNCTIONS,
    remarks: {
      triggers: 'These triggers would log the old values: they are recreated at the end.',
      keys: 'Both sides of these foreign keys change: they are recreated, and thereby checked, at the end.',
      end: 'Recreate triggers and foreign keys, and drop the functions.',
    },
  };
}

interface ForeignKey {
  table: string;
  name: string;
  definition: string;
  pairs: KeyPair[];
}

export async function readForeignKeys(
  session: MysqlSession,
  { database, schema }: { database: string; schema: string },
): Promise<ForeignKey[]> {
  const within = `${inDatabase('TABLE_SCHEMA', database)} AND REFERENCED_TABLE_SCHEMA = TABLE_SCHEMA`;
  const keys = await readForeignKeyRows(session, within);
  const { tables } = await readDefinitions(session, database, () => {});
  return keys.flatMap(({ table, name, columns, otherTable, otherColumns }) => {
    const definitions = tables.find((one) => one.name === table)?.foreignKeys ?? [];
    const definition = definitions.find((clause) => clause.startsWith(`CONSTRAINT ${quoteName(name)} `));
    if (definition === undefined) return [];
    const pairs = columns.map(
      (column, at): KeyPair => [
        { schema, table, column },
        { schema, table: otherTable, column: otherColumns[at] ?? '' },
      ],
    );
    return [{ table, name, definition, pairs }];
  });
}

/** By table. */
async function triggersOf(session: MysqlSession, database: string, tables: string[]): Promise<Map<string, Code[]>> {
  if (tables.length === 0) return new Map();
  const rows = await session.query<{ name: string; table_: string }>(`
    SELECT TRIGGER_NAME AS name, EVENT_OBJECT_TABLE AS table_ FROM information_schema.TRIGGERS
    WHERE ${inDatabase('TRIGGER_SCHEMA', database)} AND EVENT_MANIPULATION = 'UPDATE'
      AND EVENT_OBJECT_TABLE IN (${tables.map(quoteText).join(', ')})`);
  const tableOf = new Map(rows.map(({ name, table_ }) => [name, table_]));
  const { triggers } = await readCode(session, database, () => {});
  const ofTables = triggers.filter(({ name }) => tableOf.has(name));
  return Map.groupBy(ofTables, ({ name }) => tableOf.get(name) ?? '');
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

/** By table, columns with ON UPDATE CURRENT_TIMESTAMP, which otherwise change with each UPDATE. */
async function clocksOf(session: MysqlSession, database: string): Promise<Map<string, string[]>> {
  const columns = await readColumns(session, tablesIn(database));
  const clocks = columns.filter(({ extra }) => /on update/i.test(extra));
  const byTable = Map.groupBy(clocks, ({ table }) => table);
  return new Map([...byTable].map(([table, of]) => [table, of.map(({ name }) => name)]));
}

function inSql({ column, family, ignoresCase }: ColumnFacts): Pick<Replaceable, 'name' | 'text' | 'key'> {
  const name = quoteName(column);
  const text = family === 'text' ? name : `cast(${name} AS CHAR)`;
  return { name, text, key: ignoresCase ? `lower(${text})` : text };
}
