import type { EngineContext } from '../../../engine-context.ts';
import type { ChangesToWrite, TableChanges } from '../../../facets/changes.ts';
import { groupsOf } from '../../../shared/groups.ts';
import { cannotWrite, valuesOf, withReplaced } from '../../../shared/rows/change-statements.ts';
import { connect } from '../../connection/connect.ts';
import { quoteName, quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { type ArchiveDetails, archiveDetails } from '../../dump/archive.ts';
import { findReplacements, givenTables, NO_KEY, type TableKey } from '../difference/replaceable.ts';
import { foreignKeysQuery, type SetAsideRelation, triggersQuery } from '../difference/set-aside.ts';
import { dataOf, pathOf } from '../rows/copy-commands.ts';

interface WrittenTable extends Omit<TableChanges, 'key'> {
  path: string;
  columns: string[];
  key: TableKey | null;
  turn: number;
  schema: string;
  name: string;
}

/**
 * Writes one transaction: rows are deleted, and inserted and updated in an order that foreign keys allow. Triggers do not
 * fire, and foreign keys that would be in the way are dropped and created again.
 */
export async function changeStatements(context: EngineContext, { url, manifest, tables, values }: ChangesToWrite) {
  const details = archiveDetails(manifest);
  await using session = await connect(context, url);
  const written = await describeTables(session, tables, details);
  const relations = written.map(relationOf);
  const foreignKeys = await session.query<Aside>(foreignKeysQuery(relations));
  const triggers = await session.query<Aside>(triggersQuery(relations));
  const asides = [...triggers, ...foreignKeys];
  return statementsOf(written, {
    before: asides.flatMap(({ before }) => before ?? []),
    after: [...foreignKeys, ...triggers].flatMap(({ after }) => after),
    values: values.map(({ text }) => text.trim().replace(/;$/, '')),
  });
}

interface Aside {
  before: string | null;
  after: string[];
}

async function describeTables(session: PostgresSession, tables: TableChanges[], details: ArchiveDetails) {
  const differences = tables.map(({ table, removed, added, changed }) => ({
    ...{ table, removed, bytes: 0 },
    added: [...added, ...changed.map(([, now]) => now)],
  }));
  const { replacements, whole } = await findReplacements(session, differences, details);
  for (const [table, obstacle] of whole) if (obstacle !== NO_KEY) throw cannotWrite(`${table}: ${obstacle}`);
  const found = new Map(replacements.map(({ table, ...rest }) => [table.name, rest]));
  const last = Math.max(0, ...replacements.map(({ turn }) => turn)) + 1;
  const fixed = await readFixed(session, tables, details);
  return tables.map((one, index) => {
    const { schema, table: name, columns } = dataOf(one.table, details);
    const { key = null, turn = last } = found.get(one.table.name) ?? {};
    const path = pathOf({ schema, table: name });
    const own = fixed.get(index) ?? [];
    return withReplaced({ ...one, path, columns, key, turn, schema, name }, (at) => own.includes(columns[at] ?? ''));
  });
}

/** Columns with unique values, and those that no UPDATE may set. */
async function readFixed(session: PostgresSession, tables: TableChanges[], details: ArchiveDetails) {
  const given = givenTables(
    tables.map(({ table }) => table),
    details,
  );
  const rows = await session.query<{ table: number; columns: string[] }>(`WITH ${given}
    SELECT g.index AS "table", json_agg(DISTINCT a.attname) AS columns FROM given g
      JOIN pg_attribute a ON a.attrelid = g.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_index i ON i.indrelid = g.oid AND (i.indisunique OR i.indisexclusion)
        AND (a.attnum = ANY (i.indkey) OR i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
    WHERE i.indexrelid IS NOT NULL OR a.attidentity = 'a' GROUP BY g.index`);
  return new Map(rows.map(({ table, columns }) => [table, columns]));
}

/** Rows that refer to others of their table must be in one statement, or the foreign key must wait. */
function relationOf({ schema, name, removed, added, changed, turn }: WrittenTable): SetAsideRelation {
  const deletes = removed.length > 0 || added.length > ROWS_OF_INSERT;
  const isFilled = added.length > 0 || changed.length > 0;
  return { schema, table: name, tree: false, large: false, whole: false, deletes, turn: isFilled ? turn : null };
}

const ROWS_OF_INSERT = 100;

/** The settings with which rows are read. */
const SETTINGS = [
  ...["client_encoding = 'UTF8'", 'standard_conforming_strings = on', 'search_path = pg_catalog', 'row_security = off'],
  ...["DateStyle = 'ISO'", "IntervalStyle = 'postgres'", "TimeZone = 'UTC'", 'extra_float_digits = 3'],
  ...["bytea_output = 'hex'", "xmloption = 'content'", 'array_nulls = on', 'transform_null_equals = off'],
];

function* statementsOf(
  tables: WrittenTable[],
  { before, after, values }: Record<'before' | 'after' | 'values', string[]>,
): Generator<string> {
  yield 'BEGIN';
  for (const setting of SETTINGS) yield `SET LOCAL ${setting}`;
  yield* before;
  for (const table of tables) yield* deletions(table);
  for (const table of tables.toSorted((a, b) => a.turn - b.turn)) {
    yield* insertions(table);
    yield* updates(table);
  }
  // A table with deferred checks cannot be altered.
  if (after.length > 0) yield 'SET CONSTRAINTS ALL IMMEDIATE';
  yield* after;
  yield* values;
  yield 'COMMIT';
}

function* deletions({ path, columns, key, removed }: WrittenTable): Generator<string> {
  if (key) {
    for (const line of removed) yield `DELETE FROM ONLY ${path} WHERE ${keyCondition(line, { columns, key })}`;
    return;
  }
  for (const [line, lines] of Map.groupBy(removed, (one) => one)) {
    const equal = `SELECT ctid FROM ONLY ${path} WHERE ${rowCondition(line, columns)} LIMIT ${quoteNumber(lines.length)}`;
    yield `DELETE FROM ONLY ${path} WHERE ctid = ANY (ARRAY(${equal}))`;
  }
}

function* insertions({ path, columns, added }: WrittenTable): Generator<string> {
  if (columns.length === 0) {
    for (const _ of added) yield `INSERT INTO ${path} DEFAULT VALUES`;
    return;
  }
  const into = `INSERT INTO ${path} (${columns.map(quoteName).join(', ')}) OVERRIDING SYSTEM VALUE VALUES`;
  for (const lines of groupsOf(added, ROWS_OF_INSERT)) {
    const rows = lines.map((line) => `(${valuesOf(line).map(literal).join(', ')})`);
    yield `${into}\n  ${rows.join(',\n  ')}`;
  }
}

function* updates({ path, columns, key, changed }: WrittenTable): Generator<string> {
  for (const [before, after] of changed) {
    if (!key) throw new Error(`changed rows of ${path} have no key`);
    const [old, now] = [valuesOf(before), valuesOf(after)];
    const [oldFields, nowFields] = [before.split('\t'), after.split('\t')];
    const set = columns.flatMap((column, index) =>
      oldFields[index] === nowFields[index] ? [] : [`${quoteName(column)} = ${literal(now[index] ?? null)}`],
    );
    if (old.length === now.length && set.length > 0) {
      yield `UPDATE ONLY ${path} SET ${set.join(', ')} WHERE ${keyCondition(before, { columns, key })}`;
    }
  }
}

function keyCondition(line: string, { columns, key }: { columns: string[]; key: TableKey }): string {
  const values = valuesOf(line);
  return key.columns
    .map((name, at) => `${quoteName(name)} ${key.operators[at]} ${literal(values[columns.indexOf(name)] ?? null)}`)
    .join(' AND ');
}

/** By the text of all values: some types have no operator for equality, others take different texts for equal. */
function rowCondition(line: string, columns: string[]): string {
  const values = valuesOf(line);
  const conditions = columns.map((column, index) => {
    const value = values[index] ?? null;
    const name = quoteName(column);
    return value === null
      ? `${name} IS NULL`
      : `(${name} IS NOT NULL AND format('%s', ${name}) COLLATE "C" = ${literal(value)})`;
  });
  return conditions.length > 0 ? conditions.join(' AND ') : 'true';
}

function literal(value: Buffer | null): string {
  if (value === null) return 'NULL';
  const text = value.toString();
  if (!Buffer.from(text).equals(value)) throw cannotWrite('a value is not valid UTF-8');
  return quoteText(text);
}
