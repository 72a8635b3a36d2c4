import { randomBytes } from 'node:crypto';
import { type ColumnFacts, columnName } from '../../sanitize/column-facts.ts';
import { PERSONAL_KINDS } from '../../sanitize/detector/kinds.ts';
import type { EngineContext } from '../engine.ts';
import type { SuggestionRequest, SuspectColumn } from '../sanitizer.ts';
import { connect } from './connect.ts';
import { FUNCTIONS, replacement } from './sanitize-replacements.ts';
import { quoteText, type Session } from './session.ts';

/**
 * A query that replaces the columns' values, each by something that is made of its hash: equal values stay equal in all
 * tables, so that foreign keys stay whole; different ones stay different where the column is unique.
 */
export async function suggestQuery(
  context: EngineContext,
  { url, columns, suspects }: SuggestionRequest,
): Promise<string> {
  await using session = await connect(context, url);
  const keys = await readForeignKeys(session);
  const all = withPartners(suspects, { columns, keys });
  const names = await quotedNames(session, all);
  const tables = [...Map.groupBy(all, ({ facts }) => tableOf(facts)).values()].map(
    (ofTable): SuggestedTable => ({ columns: ofTable, name: nameIn(names, ofTable[0]?.facts) }),
  );
  const touched = keys.filter(({ pairs }) => pairs.some((pair) => all.some(({ facts }) => isIn(pair, facts))));
  const triggers = await tablesWithTriggers(session);
  const silenced = tables.filter(({ columns: [first] }) => first && triggers.has(tableOf(first.facts)));
  const salt = quoteText(randomBytes(12).toString('hex'));
  return [
    HEAD,
    FUNCTIONS.replace('%', salt),
    section(
      'Triggers would write down what is replaced.',
      silenced.map(({ name }) => `ALTER TABLE ${name} DISABLE TRIGGER USER;`),
    ),
    section('Both sides of these foreign keys change: they are made again when all is done.', touched.map(dropKey)),
    ...tables.map((table) => updateOf(table, names)),
    section('Back to what it was.', [
      ...(touched.length > 0 ? ['SET CONSTRAINTS ALL IMMEDIATE;'] : []),
      ...touched.map(addKey),
      ...silenced.map(({ name }) => `ALTER TABLE ${name} ENABLE TRIGGER USER;`),
    ]),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

const HEAD = `-- A first sanitization query, written by \`tool sanitize --suggest\` for the columns that looked personal.
-- Read it, change what does not fit, remove what may stay and say why:
--   -- keep: schema.table.column reason
-- The salt in pg_temp.hash keeps values from being guessed by their hashes: treat it as a password.`;

interface ForeignKey {
  /** As they stand in SQL. */
  table: string;
  name: string;
  /** What follows its name where it is made. */
  definition: string;
  pairs: [ColumnPlace, ColumnPlace][];
}

type ColumnPlace = Pick<ColumnFacts, 'schema' | 'table' | 'column'>;

/** Each column of a key with the column that it refers to; keys of partitions are those of their tables. */
function readForeignKeys(session: Session): Promise<ForeignKey[]> {
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

interface Known {
  columns: ColumnFacts[];
  keys: ForeignKey[];
}

/** Whoever shares a foreign key with a suspect is replaced in the same way. */
function withPartners(suspects: SuspectColumn[], { columns, keys }: Known): SuspectColumn[] {
  const factsOf = new Map(columns.map((facts) => [columnName(facts), facts]));
  const found = new Map(suspects.map((suspect) => [columnName(suspect.facts), suspect]));
  const pairs = keys.flatMap((key) => key.pairs);
  for (let known = 0; known < found.size; ) {
    known = found.size;
    for (const [own, referred] of pairs) {
      const either = found.get(columnName(referred)) ?? found.get(columnName(own));
      if (!either) continue;
      for (const place of [own, referred]) {
        const facts = factsOf.get(columnName(place));
        // The same expression on both sides: of the same kind, and as unique as the stricter of the two.
        if (facts)
          found.set(columnName(place), { kind: either.kind, facts: { ...facts, ...shared(either.facts, facts) } });
      }
    }
  }
  return [...found.values()].sort((a, b) => (columnName(a.facts) < columnName(b.facts) ? -1 : 1));
}

function shared(
  one: ColumnFacts,
  other: ColumnFacts,
): Pick<ColumnFacts, 'unique' | 'ignoresCase' | 'maxLength' | 'samples'> {
  const limits = [one.maxLength, other.maxLength].filter((limit) => limit !== null);
  return {
    unique: one.unique || other.unique,
    ignoresCase: one.ignoresCase || other.ignoresCase,
    maxLength: limits.length > 0 ? Math.min(...limits) : null,
    samples: one.samples,
  };
}

/** Names as they stand in SQL, quoted only where they must be. */
async function quotedNames(session: Session, columns: SuspectColumn[]): Promise<Map<string, string>> {
  const all = new Set(columns.flatMap(({ facts: { schema, table, column } }) => [schema, table, column]));
  const rows = await session.query<{ name: string; quoted: string }>(
    `SELECT name, quote_ident(name) AS quoted FROM unnest(ARRAY[${[...all].map(quoteText).join(', ')}]::text[]) AS name`,
  );
  return new Map(rows.map(({ name, quoted }) => [name, quoted]));
}

function nameIn(names: Map<string, string>, facts: ColumnFacts | undefined): string {
  return `${names.get(facts?.schema ?? '')}.${names.get(facts?.table ?? '')}`;
}

async function tablesWithTriggers(session: Session): Promise<Set<string>> {
  const rows = await session.query<{ schema: string; table: string }>(`
    SELECT DISTINCT n.nspname AS schema, c.relname AS "table" FROM pg_trigger t
    JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE NOT t.tgisinternal AND t.tgenabled = 'O' AND t.tgtype & ${ON_UPDATE} <> 0`);
  return new Set(rows.map(tableOf));
}

/** The bit of `tgtype` that says that a trigger fires on UPDATE. */
const ON_UPDATE = 16;

interface SuggestedTable {
  columns: SuspectColumn[];
  name: string;
}

function updateOf({ columns, name }: SuggestedTable, names: Map<string, string>): string {
  const remarks: string[] = [];
  const assignments: { sql: string; meaning: string }[] = [];
  for (const { facts, kind } of columns) {
    const column = names.get(facts.column) ?? '';
    const text = facts.family === 'text' && !facts.ignoresCase ? column : `${column}::text`;
    const key = facts.ignoresCase ? `lower(${text})` : text;
    const value = facts.generated ? null : replacement({ facts, kind, name: column, key });
    const meaning = PERSONAL_KINDS[kind];
    if (value !== null) assignments.push({ sql: `  ${column} = ${value}`, meaning });
    else
      remarks.push(
        `-- ${column} (${meaning}) ${facts.generated ? 'is made of other columns' : 'cannot be null: decide what it shall be'}`,
      );
  }
  if (assignments.length === 0) return remarks.join('\n');
  const lines = assignments.map(
    ({ sql, meaning }, index) => `${sql}${index < assignments.length - 1 ? ',' : ''} -- ${meaning}`,
  );
  return [...remarks, `UPDATE ${name} SET`, ...lines, ';'].join('\n');
}

/** A key that is only deferred would still cascade, or refuse. */
function dropKey({ table, name }: ForeignKey): string {
  return `ALTER TABLE ${table} DROP CONSTRAINT ${name};`;
}

function addKey({ table, name, definition }: ForeignKey): string {
  return `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition};`;
}

function section(why: string, lines: string[]): string {
  return lines.length === 0 ? '' : [`-- ${why}`, ...lines].join('\n');
}

function isIn(pair: ColumnPlace[], facts: ColumnFacts): boolean {
  return pair.some((place) => columnName(place) === columnName(facts));
}

function tableOf({ schema, table }: Pick<ColumnFacts, 'schema' | 'table'>): string {
  return JSON.stringify([schema, table]);
}
