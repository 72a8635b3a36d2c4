import type { EngineContext } from '../../engine-context.ts';
import type { ChangesToWrite, TableChanges } from '../../facets/changes.ts';
import { groupsOf } from '../../shared/groups.ts';
import { cannotWrite, valuesOf, withReplaced } from '../../shared/rows/change-statements.ts';
import { type ColumnRow, readColumns, readIndexes } from '../catalog/columns.ts';
import { connect } from '../connection/connect.ts';
import { plainWord, quoteName, quoteText, tablesIn } from '../connection/quote.ts';
import { type MysqlSession, PLAIN_GRAMMAR } from '../connection/session.ts';
import { type Details, detailsOf } from '../details.ts';
import { dataOf } from './rows/load-tables.ts';

interface Column extends Pick<ColumnRow, 'name' | 'type' | 'charset'> {
  /** Its values are unique. */
  fixed: boolean;
}

interface WrittenTable extends Pick<TableChanges, 'removed' | 'added' | 'changed'> {
  path: string;
  columns: Column[];
  key: Column[];
}

/** Writes one transaction without checks of foreign keys, since both states of the database satisfy them. */
export async function changeStatements(context: EngineContext, { url, manifest, tables, values }: ChangesToWrite) {
  const details = detailsOf(manifest);
  await using session = await connect(context, url);
  const database = url.database ?? '';
  await assertNoTriggers(session, { database, details, tables });
  const columns = await readOwnColumns(session, database);
  const written = tables.map((one): WrittenTable => {
    const { table, columns: names } = dataOf({ details }, one.table);
    const known = new Map(columns.filter((column) => column.table === table).map((column) => [column.name, column]));
    const own = names.map((name) => known.get(name) ?? { name, type: 'text', charset: null, fixed: true });
    const key = one.key.flatMap((at) => own[at] ?? []);
    return withReplaced({ ...one, path: quoteName(table), columns: own, key }, (at) => own[at]?.fixed ?? false);
  });
  return statementsOf(
    written,
    values.map(({ name, text }) => counterStatement(name.slice(details.database.length + 1), text)),
  );
}

/** A trigger cannot be disabled, only dropped. */
async function assertNoTriggers(
  session: MysqlSession,
  { database, details, tables }: { database: string; details: Details; tables: TableChanges[] },
): Promise<void> {
  const rows = await session.query<{ name: string }>(
    `SELECT DISTINCT EVENT_OBJECT_TABLE AS name FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ${quoteText(database)}`,
  );
  const own = new Set(tables.map(({ table }) => dataOf({ details }, table).table));
  const found = rows.find(({ name }) => own.has(name));
  if (found) throw cannotWrite(`triggers of ${found.name} would run`);
}

async function readOwnColumns(session: MysqlSession, database: string): Promise<(Column & { table: string })[]> {
  const indexes = await readIndexes(session, tablesIn(database));
  const unique = indexes.filter(({ isUnique }) => isUnique);
  const names = new Set(
    unique.flatMap(({ table, columns }) => columns.map(({ name }) => JSON.stringify([table, name]))),
  );
  return (await readColumns(session, tablesIn(database))).map(({ table, name, type, charset }) => ({
    ...{ table, name, type, charset },
    // An index on an expression names no column.
    fixed: names.has(JSON.stringify([table, name])) || names.has(JSON.stringify([table, null])),
  }));
}

const ROWS_OF_INSERT = 100;

function* statementsOf(tables: WrittenTable[], counters: string[]): Generator<string> {
  yield PLAIN_GRAMMAR;
  yield 'SET foreign_key_checks = 0';
  yield 'START TRANSACTION';
  for (const { path, columns, key, removed, added, changed } of tables) {
    for (const [line, lines] of Map.groupBy(removed, (one) => one)) {
      const condition = key.length > 0 ? keyCondition(line, { columns, key }) : rowCondition(line, columns);
      yield `DELETE FROM ${path} WHERE ${condition} LIMIT ${lines.length}`;
    }
    const into = `INSERT INTO ${path} (${columns.map(({ name }) => quoteName(name)).join(', ')}) VALUES`;
    for (const lines of groupsOf(added, ROWS_OF_INSERT)) {
      yield `${into}\n  ${lines.map((line) => `(${literals(line, columns).join(', ')})`).join(',\n  ')}`;
    }
    for (const [before, after] of changed) {
      const [old, now] = [before.split('\t'), after.split('\t')];
      const values = literals(after, columns);
      const set = columns.flatMap(({ name }, index) =>
        old[index] === now[index] ? [] : [`${quoteName(name)} = ${values[index]}`],
      );
      yield `UPDATE ${path} SET ${set.join(', ')} WHERE ${keyCondition(before, { columns, key })}`;
    }
  }
  yield 'COMMIT';
  // These commit by themselves.
  yield* counters;
}

function literals(line: string, columns: Column[]): string[] {
  const values = valuesOf(line);
  return columns.map((column, index) => literal(values[index] ?? null, column));
}

function keyCondition(line: string, { columns, key }: { columns: Column[]; key: Column[] }): string {
  const values = valuesOf(line);
  const conditions = key.map((column) => {
    const value = values[columns.indexOf(column)] ?? null;
    // A FLOAT is compared as a DOUBLE; in MariaDB a BIT is never equal to a string.
    return FLOATS.has(column.type) || column.type === 'bit'
      ? textCondition(value, column)
      : `${quoteName(column.name)} = ${literal(value, column)}`;
  });
  return conditions.join(' AND ');
}

/** By the bytes of all values: collations take different texts for equal. */
function rowCondition(line: string, columns: Column[]): string {
  const values = valuesOf(line);
  return columns.map((column, index) => textCondition(values[index] ?? null, column)).join(' AND ');
}

function textCondition(value: Buffer | null, { name, type, charset }: Column): string {
  const column = quoteName(name);
  if (value === null) return `${column} IS NULL`;
  if (type === 'bit') return `${column} + 0 = ${BigInt(`0x${value.toString('hex') || '0'}`)}`;
  if (FLOATS.has(type)) return `${column} + 0e0 = ${quoteText(value.toString())} + 0e0`;
  if (charset !== null || BYTES.has(type)) return `HEX(${column}) = '${value.toString('hex').toUpperCase()}'`;
  return `CAST(${column} AS CHAR) = ${quoteText(value.toString())}`;
}

const FLOATS = new Set(['float', 'double']);
const NUMBERS = new Set(['tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'decimal', 'year']);
const BYTES = new Set([
  ...['bit', 'binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob'],
  ...['geometry', 'point', 'linestring', 'polygon', 'multipoint', 'multilinestring', 'multipolygon'],
  ...['geometrycollection', 'geomcollection', 'vector'],
]);
const UNICODE = /^utf8/;
const ASCII = /^(?:ascii|latin\d|utf8|cp\d|koi8|greek|hebrew)/;

function literal(value: Buffer | null, { type, charset }: Column): string {
  if (value === null) return 'NULL';
  const text = value.toString();
  if (NUMBERS.has(type) && /^-?\d+(?:\.\d+)?$/.test(text)) return text;
  const hex = `x'${value.toString('hex')}'`;
  if (BYTES.has(type)) return hex;
  if (charset === null) return quoteText(text);
  const isPlain = ASCII.test(charset) && /^[\t\n\x20-\x7e]*$/.test(text);
  const isText = UNICODE.test(charset) && Buffer.from(text).equals(value) && !/[^\t\n\P{Cc}]/u.test(text);
  return isPlain || isText ? quoteText(text) : `_${plainWord(charset)} ${hex}`;
}

const COUNTER = '.(auto_increment)';
const SEQUENCE = '.(sequence set)';

function counterStatement(name: string, value: string): string {
  const number = BigInt(value);
  return name.endsWith(COUNTER)
    ? `ALTER TABLE ${quoteName(name.slice(0, -COUNTER.length))} AUTO_INCREMENT = ${number}`
    : `DO SETVAL(${quoteName(name.slice(0, -SEQUENCE.length))}, ${number}, 0)`;
}
