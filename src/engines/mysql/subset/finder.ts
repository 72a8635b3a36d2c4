import { redact } from '../../../process/redact.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { Graph } from '../../../subset/graph.ts';
import type { RequestedTable, RowFinder } from '../../../subset/row-finder.ts';
import type { RowSet } from '../../../subset/row-set.ts';
import type { WithResource } from '../../shared/run-together.ts';
import { referenceOf } from '../../shared/subset/reference-of.ts';
import { tokensOf, unclearIn } from '../catalog/definitions/tokens.ts';
import { NO_SUCH_KEY } from '../connection/error-numbers.ts';
import { asTable, plainWord, quoteName, quotePath, quoteText } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { mostBytesOf, type RowPacket, writeRow } from '../dump/row-text.ts';
import { type SubsetColumn, writtenValue } from './keys.ts';
import type { OpenSource } from './open-source.ts';
import { batchesOf, isKey, joinedBy, keyTable, type RowNumbers } from './rows.ts';
import { type Reference, referenceIn, type SubsetTable } from './subset-catalog.ts';

export interface FinderOptions extends Pick<OpenSource, 'database' | 'catalog' | 'withSession'> {
  seed: number;
}

/** Joins whole batches of keys to their rows. */
export function createFinder(graph: Graph, { database, catalog, withSession, seed }: FinderOptions): RowFinder {
  for (const relationship of [...graph.relationships, ...graph.cut].filter(({ added }) => added)) {
    catalog.references.set(relationship.id, referenceIn(catalog.tables, relationship));
  }
  const path = ({ catalog: { name } }: SubsetTable): string => quotePath(database, name);

  function rowsOf(query: string, { numbers }: SubsetTable, take: (row: number) => void): Promise<void> {
    return withSession((session) => session.eachRow(query, (row) => take(numberIn(row, numbers))));
  }

  /** Batches in sequence in one session: statements are long, and are built when the session is free. */
  function askBatches(
    { rows, of, take }: { rows: RowSet; of: SubsetTable; take: (row: RowPacket) => void },
    query: (keys: string[]) => string,
  ): Promise<void> {
    return withSession(async (session) => {
      for (const keys of batchesOf(rows, of.numbers)) {
        await session.eachRow(query(keys), take);
      }
    });
  }

  return {
    async targets(target, take) {
      const table = catalog.tables.get(target.table);
      if (!table) throw new Error(`${target.table} was not checked`);
      const query = await targetQuery({ table, path: path(table), target, seed, withSession });
      await rowsOf(query, table, take).catch((error) => {
        throw conditionError(target, error);
      });
    },

    async referring({ id, indexed }, rows, take) {
      const reference = referenceOf(catalog, id);
      const { from, to } = reference;
      const same = refersTo(reference, { own: 'f', other: 'r' });
      const how = to.unique && indexed && !isConverted(reference) ? 'index' : 'hash';
      await askBatches({ rows, of: to, take: (row) => take(numberIn(row, from.numbers)) }, (keys) =>
        joinedBy(
          how,
          `SELECT ${keyOf(from, 'f')} FROM ${keyTable(to.key, keys)}
            STRAIGHT_JOIN ${asTable(path(to), 'r')} ON ${isKey(to.key, 'r')} STRAIGHT_JOIN ${asTable(path(from), 'f')} ON ${same}`,
        ),
      );
    },

    async referred({ id }, rows, take) {
      const reference = referenceOf(catalog, id);
      const { from, columns, to } = reference;
      const values = columns.map(({ name }) => `f.${quoteName(name)}`).join(', ');
      const same = refersTo(reference, { own: 'd', other: 'p' });
      const find = (source: string): string => {
        const distinct = `SELECT DISTINCT ${values} FROM ${source} WHERE ${refers(reference)}`;
        return `SELECT ${keyOf(to, 'p')} FROM (${distinct}) d STRAIGHT_JOIN ${asTable(path(to), 'p')} ON ${same}`;
      };
      if (rows === 'all') return rowsOf(find(asTable(path(from), 'f')), to, take);
      await askBatches({ rows, of: from, take: (row) => take(numberIn(row, to.numbers)) }, (keys) =>
        joinedBy(
          howTo(from),
          find(`${keyTable(from.key, keys)} STRAIGHT_JOIN ${asTable(path(from), 'f')} ON ${isKey(from.key, 'f')}`),
        ),
      );
    },

    async references({ id }, rows, take) {
      const reference = referenceOf(catalog, id);
      const { from, to } = reference;
      const same = refersTo(reference, { own: 'f', other: 'p' });
      const takePair = (row: RowPacket): void => {
        const fields = fieldsOf(row);
        const referred = fields.slice(from.key.length);
        const own = from.numbers.numberOf(fields.slice(0, from.key.length));
        take(own, referred[0] === NULL ? null : to.numbers.numberOf(referred));
      };
      await askBatches({ rows, of: from, take: takePair }, (keys) =>
        joinedBy(
          howTo(from),
          `SELECT ${keyOf(from, 'f')}, ${keyOf(to, 'p')} FROM ${keyTable(from.key, keys)}
            STRAIGHT_JOIN ${asTable(path(from), 'f')} ON ${isKey(from.key, 'f')} LEFT JOIN ${asTable(path(to), 'p')} ON ${same} WHERE ${refers(reference)}`,
        ),
      );
    },
  };
}

export function howTo({ unique }: SubsetTable): 'index' | 'hash' {
  return unique ? 'index' : 'hash';
}

function keyOf({ key }: SubsetTable, alias: string): string {
  return key.map((part) => part.out(alias)).join(', ');
}

/** Returns the condition that the row `f` has a reference: none of the columns is null. */
export function refers({ columns }: Reference): string {
  return columns.map(({ name }) => `f.${quoteName(name)} IS NOT NULL`).join(' AND ');
}

/**
 * Returns the condition that the row refers to the other, compared as the referenced column compares: an index serves
 * only when the referencing value is converted.
 */
export function refersTo({ columns, refColumns }: Reference, { own, other }: { own: string; other: string }): string {
  const conditions = refColumns.map((referred, index) => {
    const column = columns[index];
    if (!column) throw new Error('a reference has as many columns on either side');
    const value = `${own}.${quoteName(column.name)}`;
    const comparable = isOtherText(column, referred)
      ? `CONVERT(${value} USING ${plainWord(referred.charset ?? '')}) COLLATE ${plainWord(referred.collation ?? '')}`
      : value;
    return `${other}.${quoteName(referred.name)} = ${comparable}`;
  });
  return conditions.join(' AND ');
}

function isOtherText({ charset, collation }: SubsetColumn, referred: SubsetColumn | undefined): boolean {
  return charset !== null && referred?.charset != null && collation !== referred.collation;
}

function isConverted({ columns, refColumns }: Reference): boolean {
  return columns.some((column, index) => isOtherText(column, refColumns[index]));
}

const NULL = '\\N';

function numberIn(packet: RowPacket, numbers: RowNumbers): number {
  const integer = numbers.isInteger ? integerIn(packet) : null;
  return numbers.numberOf(integer ?? fieldsOf(packet));
}

const [MINUS, ZERO] = [0x2d, 0x30];
const MOST_DIGITS = 15;

function integerIn({ buffer, offset, end }: RowPacket): number | null {
  const isNegative = buffer[offset + 1] === MINUS;
  const first = offset + (isNegative ? 2 : 1);
  if (end - first > MOST_DIGITS) return null;
  let value = 0;
  for (let at = first; at < end; at += 1) value = value * 10 + (buffer[at] ?? 0) - ZERO;
  return isNegative ? -value : value;
}

/** Keys are ASCII. */
function fieldsOf(row: RowPacket): string[] {
  const text = Buffer.allocUnsafe(mostBytesOf(row.end - row.offset));
  return text.toString('latin1', 0, writeRow(row, text, 0) - 1).split('\t');
}

interface TargetRequest {
  table: SubsetTable;
  path: string;
  target: RequestedTable;
  seed: number;
  withSession: WithResource<MysqlSession>;
}

async function targetQuery(request: TargetRequest): Promise<string> {
  const { table, path, target } = request;
  const { where } = target;
  if (where === undefined) return shareQuery(request);
  if (!isOneExpression(where)) throw refusedCondition(target, new SqlError('it is not one expression', 0));
  return `SELECT ${keyOf(table, quoteName(table.catalog.name))} FROM ${asTable(path)} WHERE (${where}\n)`;
}

/** Stable whatever the order on disk: by a hash of the key. MySQL 9 lacks MD5. */
async function shareQuery({ table, path, target, seed, withSession }: TargetRequest): Promise<string> {
  if (!table.unique) {
    throw new UserError('subset_invalid', `Cannot take a percentage of ${table.name}: it has no unique key`, {
      hint: 'Choose its rows by where, or give it a primary key.',
    });
  }
  const [counted] = await withSession((session) =>
    session.query<{ rows_: number | string }>(
      `SELECT CAST(CEIL(COUNT(*) * ${Number(target.percent ?? 100)} / 100) AS UNSIGNED) AS rows_ FROM ${asTable(path)}`,
    ),
  );
  const key = table.primaryKey.length > 0 ? table.primaryKey.map((column) => writtenValue(column, 't')) : null;
  const value = `CONCAT_WS(',', ${key?.join(', ') ?? keyOf(table, 't')})`;
  return `SELECT ${keyOf(table, 't')} FROM ${asTable(path, 't')}
    ORDER BY SHA2(CONCAT(${value}, ' ', ${quoteText(String(seed))}), 256), ${value} LIMIT ${Number(counted?.rows_ ?? 0)}`;
}

/** Nothing in it ends the statement, leaves its parentheses, or is read differently by servers. */
function isOneExpression(where: string): boolean {
  const tokens = [...tokensOf(where)];
  if (unclearIn(tokens) || tokens.some(({ kind, text }) => kind === 'version' || text === ';')) return false;
  let depth = 0;
  for (const { kind, text } of tokens) {
    if (kind === 'other' && text === '(') depth += 1;
    if (kind === 'other' && text === ')') depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** Returns an error of the server as one of the user's condition, if there is one, unless a view was refused. */
function conditionError(target: RequestedTable, error: unknown): unknown {
  const cause = error instanceof UserError && error.cause;
  if (target.where === undefined || !(cause instanceof SqlError) || cause.errno === NO_SUCH_KEY) return error;
  return refusedCondition(target, cause);
}

function refusedCondition({ table, where }: RequestedTable, cause: SqlError): UserError {
  return new UserError('subset_invalid', `The condition for ${table} is refused: ${redact(cause.message)}`, {
    details: [`where: ${where}`],
    hint: 'Correct it in subset_tables; it is what would stand after WHERE in a query of this one table.',
    cause,
  });
}
