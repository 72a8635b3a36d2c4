import { EXIT, UserError } from '../../../errors.ts';
import { redact } from '../../../process/redact.ts';
import type { Graph } from '../../../subset/graph.ts';
import type { RowFinder } from '../../../subset/row-finder.ts';
import type { RowSet } from '../../../subset/row-set.ts';
import { splitName } from '../../../table-names.ts';
import type { WithResource } from '../../shared/resource-pool.ts';
import { quoteName, quoteText, type Session, SqlError } from '../connection/session.ts';
import { type Leaf, type Reference, resolveAdded, type SubsetCatalogue, type SubsetTable } from './catalogue.ts';
import { forEachLine } from './line-numbers.ts';
import { type Batch, batchesOf, isOneOf, rowNumber } from './rows.ts';

export interface Finding {
  catalogue: SubsetCatalogue;
  withSession: WithResource<Session>;
  seed: number;
}

/** A page and a line. */
const PLACE_NUMBERS = 2;

/** Finds rows by joins over whole batches, so that the server chooses between an index and reading the table once. */
export async function createFinder(graph: Graph, { catalogue, withSession, seed }: Finding): Promise<RowFinder> {
  const leaves = new Map(
    [...catalogue.tables.values()].flatMap((table) => table.leaves.map((leaf) => [leaf.oid, leaf])),
  );
  for (const relationship of [...graph.relationships, ...graph.cut].filter(({ added }) => added)) {
    const reference = await withSession((session) => resolveAdded(session, catalogue, relationship));
    catalogue.references.set(relationship.id, reference);
  }

  function referenceOf(id: string): Reference {
    const reference = catalogue.references.get(id);
    if (!reference) throw new Error(`the catalogue has no reference ${id}`);
    return reference;
  }

  /** Of lines that are a `tableoid` and a `ctid`. */
  function takeRows(lines: Uint8Array, take: (row: number) => void): void {
    forEachLine(lines, ([oid = 0, page = 0, line = 0]) => {
      const leaf = leaves.get(oid);
      if (leaf) take(rowNumber(leaf, { page, line }));
    });
  }

  /** The batches one after the other in one session: statements are long, and are made when they can be sent. */
  function askBatches(
    { rows, of, take }: { rows: RowSet; of: Leaf[]; take: (lines: Uint8Array, batch: Batch) => void },
    query: (batch: Batch) => string,
  ): Promise<void> {
    return withSession(async (session) => {
      for (const batch of batchesOf(rows, of)) {
        await session.lines(`COPY (${query(batch)}) TO STDOUT`, (lines) => take(lines, batch));
      }
    });
  }

  /** `query` selects `tableoid` and `ctid`. */
  function rowsOf(query: string, take: (row: number) => void): Promise<void> {
    return withSession((session) => session.lines(`COPY (${query}) TO STDOUT`, (lines) => takeRows(lines, take)));
  }

  return {
    async targets(target, take) {
      const table = catalogue.tables.get(target.table);
      if (!table) throw new Error(`${target.table} was not checked`);
      if (target.where === undefined) return rowsOf(shareQuery(table, target.percent ?? 100, seed), take);
      const { where } = target;
      await withSession((session) => rowsWhere(session, { table, where, take: (lines) => takeRows(lines, take) }));
    },

    async referring({ id, to }, rows, take) {
      const reference = referenceOf(id);
      const { columns, refColumns } = reference;
      const join = columns
        .map((column, index) => compare(reference, index, { key: 'k', column: `f.${quoteName(column)}` }))
        .join(' AND ');
      await askBatches({ rows, of: leavesOf(catalogue, to), take: (lines) => takeRows(lines, take) }, (batch) => {
        const keys = `SELECT ${names(refColumns)} FROM ${batch.leaf.from} r WHERE r.${isOneOf(batch)}`;
        return `SELECT f.tableoid, f.ctid FROM (${keys}) k JOIN ${reference.from} f ON ${join}`;
      });
    },

    async referred({ id }, rows, take) {
      const reference = referenceOf(id);
      const { columns, fromLeaves } = reference;
      const present = columns.map((column) => `f.${quoteName(column)} IS NOT NULL`).join(' AND ');
      const join = columns
        .map((_, index) => compare(reference, index, { key: 'p', column: `k.c${index}` }))
        .join(' AND ');
      const find = (from: string, condition: string): string => {
        const keys = columns.map((column, index) => `f.${quoteName(column)} AS c${index}`).join(', ');
        const chosen = `SELECT DISTINCT ${keys} FROM ${from} f WHERE ${condition} AND ${present}`;
        return `SELECT p.tableoid, p.ctid FROM (${chosen}) k JOIN ${reference.to} p ON ${join}`;
      };
      if (rows === 'all') return rowsOf(find(reference.from, 'true'), take);
      await askBatches({ rows, of: fromLeaves, take: (lines) => takeRows(lines, take) }, (batch) =>
        find(batch.leaf.from, `f.${isOneOf(batch)}`),
      );
    },

    async references({ id }, rows, take) {
      const reference = referenceOf(id);
      const { columns, fromLeaves } = reference;
      const present = columns.map((column) => `f.${quoteName(column)} IS NOT NULL`).join(' AND ');
      const join = columns
        .map((column, index) => compare(reference, index, { key: 'p', column: `f.${quoteName(column)}` }))
        .join(' AND ');
      const takePairs = (lines: Uint8Array, { leaf }: Batch): void =>
        forEachLine(lines, ([page = 0, line = 0, oid = 0, otherPage = 0, otherLine = 0], count) => {
          const other = count > PLACE_NUMBERS ? leaves.get(oid) : undefined;
          const referred = other ? rowNumber(other, { page: otherPage, line: otherLine }) : null;
          take(rowNumber(leaf, { page, line }), referred);
        });
      await askBatches({ rows, of: fromLeaves, take: takePairs }, (batch) => {
        const from = `${batch.leaf.from} f LEFT JOIN ${reference.to} p ON ${join}`;
        return `SELECT f.ctid, p.tableoid, p.ctid FROM ${from} WHERE f.${isOneOf(batch)} AND ${present}`;
      });
    },
  };
}

/** By the operator of the constraint, whatever schema it is in: its referred column stands first. */
function compare(
  { refColumns, operators }: Reference,
  index: number,
  { key, column }: { key: string; column: string },
): string {
  return `${key}.${quoteName(refColumns[index] ?? '')} ${operators[index]} ${column}`;
}

function leavesOf({ tables }: SubsetCatalogue, table: string): Leaf[] {
  return tables.get(table)?.leaves ?? [];
}

/** The same rows each time, whatever their order on the disk: the hash is of the key, or of the whole row without one. */
function shareQuery(table: SubsetTable, percent: number, seed: number): string {
  const key = table.primaryKey.map((column) => `t.${quoteName(column)}::text`);
  const value =
    key.length > 0
      ? `concat_ws(',', ${key.join(', ')})`
      : `ROW(${table.columns.map((column) => `t.${quoteName(column)}`).join(', ')})::text`;
  return `SELECT t.tableoid, t.ctid FROM ${table.from} t ORDER BY md5(${value} || ' ' || ${quoteText(String(seed))}), ${value}, t.ctid
    LIMIT (SELECT ceil(count(*) * ${quoteText(String(percent))}::numeric / 100)::int8 FROM ${table.fromNamed})`;
}

interface Condition {
  table: SubsetTable;
  where: string;
  take: (lines: Uint8Array) => void;
}

/**
 * The rows that meet a condition of the user's, whose functions and operators are looked for where theirs are. The
 * server reads it as a text first: what is no condition (an open quote, say) would make psql wait for its end.
 */
async function rowsWhere(session: Session, { table, where, take }: Condition): Promise<void> {
  const query = `SELECT tableoid, ctid FROM ${table.fromNamed} WHERE (${where}\n)`;
  const check = `BEGIN EXECUTE ${quoteText(`EXPLAIN ${query}`)}; END`;
  const { schema } = splitName(table.name);
  await session.execute('SAVEPOINT condition');
  try {
    await session.execute(`SET LOCAL search_path = ${names([schema, 'public'])}`);
    await session.execute(`DO ${quoteText(check)}`);
    await session.lines(`COPY (${query}) TO STDOUT`, take);
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    await session.execute('ROLLBACK TO condition');
    throw new UserError(`The condition for ${table.name} is refused: ${redact(error.message)}`, {
      code: 'subset_invalid',
      exit: EXIT.configuration,
      details: [`where: ${where}`],
      hint: 'Correct it in subset_tables; it is what would stand after WHERE in a query of this one table.',
      cause: error,
    });
  }
  await session.execute('SET LOCAL search_path = pg_catalog');
}

function names(columns: string[]): string {
  return columns.map(quoteName).join(', ');
}
