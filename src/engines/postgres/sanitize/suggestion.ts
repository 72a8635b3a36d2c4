import { randomBytes } from 'node:crypto';
import type { SuggestedTable } from '../../../results/review/suggested-query.ts';
import { type ColumnFacts, columnName } from '../../../sanitize/column-facts.ts';
import { type KeyPair, type SuspectColumn, suggestedColumn, withPartners } from '../../../sanitize/suggestion.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { SuggestionRequest } from '../../facets/sanitize.ts';
import { headingOf } from '../../shared/sanitize/suggested-query.ts';
import { connect } from '../connection/connect.ts';
import { quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { DIALECT, FUNCTIONS } from './replacements.ts';

/**
 * Replaces each value by a function of its hash: equal values stay equal in all tables, as foreign keys need;
 * different ones stay different in unique columns.
 */
export async function suggestQuery(context: EngineContext, { url, columns, suspects }: SuggestionRequest) {
  await using session = await connect(context, url);
  const keys = await readForeignKeys(session);
  const pairs = keys.flatMap((key) => key.pairs);
  const all = withPartners(suspects, { columns, pairs });
  const names = await quotedNames(session, all);
  const triggers = await tablesWithTriggers(session);
  const writing = {
    dialect: DIALECT,
    inSql: (facts: ColumnFacts) => inSql(names, facts),
    pathOf: (facts: ColumnFacts) => `${nameIn(names, facts)}.${names.get(facts.column)}`,
    pairs,
  };
  return {
    heading: headingOf({ column: 'schema.table.column', hash: 'pg_temp.hash' }),
    functions: FUNCTIONS.replace('%', () => quoteText(randomBytes(12).toString('hex'))),
    tables: [...Map.groupBy(all, ({ facts }) => tableOf(facts))].map(([table, ofTable]): SuggestedTable => {
      const name = nameIn(names, ofTable[0]?.facts);
      const silenced = triggers.has(table);
      return {
        name,
        columns: ofTable.map((suspect) => suggestedColumn(suspect, writing)),
        before: silenced ? [`ALTER TABLE ${name} DISABLE TRIGGER USER;`] : [],
        after: silenced ? [`ALTER TABLE ${name} ENABLE TRIGGER USER;`] : [],
        unchanged: [],
      };
    }),
    keys: keys.map((key) => ({
      columns: key.pairs.flat().map(columnName),
      // A deferred key would still cascade or refuse.
      drop: `ALTER TABLE ${key.table} DROP CONSTRAINT ${key.name};`,
      add: `ALTER TABLE ${key.table} ADD CONSTRAINT ${key.name} ${key.definition};`,
    })),
    beforeKeys: ['SET CONSTRAINTS ALL IMMEDIATE;'],
    closing: [],
    remarks: {
      triggers: 'Triggers would log the old values.',
      keys: 'Both sides of these foreign keys change: they are recreated at the end.',
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

/** Keys of partitions are those of their tables. */
export function readForeignKeys(session: PostgresSession): Promise<ForeignKey[]> {
  const place = (relation: string, attribute: string): string =>
    `json_build_object('schema', ${relation}n.nspname, 'table', ${relation}c.relname, 'column', ${attribute}.attname)`;
  return session.query<ForeignKey>(`
    SELECT format('%I.%I', ownn.nspname, ownc.relname) AS "table", quote_ident(k.conname) AS name,
      pg_get_constraintdef(k.oid) AS definition,
      (SELECT json_agg(json_build_array(${place('own', 'a')}, ${place('ref', 'r')}))
        FROM unnest(k.conkey, k.confkey) AS pair (own, ref)
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.own
        JOIN pg_attribute r ON r.attrelid = k.confrelid AND r.attnum = pair.ref) AS pairs
    FROM pg_constraint k
    JOIN pg_class ownc ON ownc.oid = k.conrelid JOIN pg_namespace ownn ON ownn.oid = ownc.relnamespace
    JOIN pg_class refc ON refc.oid = k.confrelid JOIN pg_namespace refn ON refn.oid = refc.relnamespace
    WHERE k.contype = 'f' AND k.conparentid = 0 ORDER BY 1, 2`);
}

async function quotedNames(session: PostgresSession, columns: SuspectColumn[]): Promise<Map<string, string>> {
  const all = new Set(columns.flatMap(({ facts: { schema, table, column } }) => [schema, table, column]));
  const rows = await session.query<{ name: string; quoted: string }>(
    `SELECT name, quote_ident(name) AS quoted FROM unnest(ARRAY[${[...all].map(quoteText).join(', ')}]::text[]) AS name`,
  );
  return new Map(rows.map(({ name, quoted }) => [name, quoted]));
}

function nameIn(names: Map<string, string>, facts: ColumnFacts | undefined): string {
  return `${names.get(facts?.schema ?? '')}.${names.get(facts?.table ?? '')}`;
}

async function tablesWithTriggers(session: PostgresSession): Promise<Set<string>> {
  const rows = await session.query<{ schema: string; table: string }>(`
    SELECT DISTINCT n.nspname AS schema, c.relname AS "table" FROM pg_trigger t
    JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE NOT t.tgisinternal AND t.tgenabled = 'O' AND t.tgtype & ${ON_UPDATE} <> 0`);
  return new Set(rows.map(tableOf));
}

const ON_UPDATE = 16;

function inSql(names: Map<string, string>, { column, family, ignoresCase }: ColumnFacts) {
  const name = names.get(column) ?? '';
  const plain = family === 'text' && !ignoresCase ? name : `${name}::text`;
  const text = ignoresCase ? `lower(${plain})` : plain;
  return { name, text, key: text };
}

function tableOf({ schema, table }: Pick<ColumnFacts, 'schema' | 'table'>): string {
  return JSON.stringify([schema, table]);
}
