import { redact } from '../../../process/redact.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { Graph } from '../../../subset/graph.ts';
import type { RowFinder } from '../../../subset/row-finder.ts';
import type { RowSet } from '../../../subset/row-set.ts';
import { splitName } from '../../../text/table-names.ts';
import type { WithResource } from '../../shared/run-together.ts';
import { ScriptProblem } from '../../shared/script/script-problem.ts';
import { splitText } from '../../shared/script/split-script.ts';
import { referenceOf } from '../../shared/subset/reference-of.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { createSplitter } from '../restore/script/split.ts';
import { forEachLine } from './line-numbers.ts';
import { type Batch, batchesOf, isOneOf, rowNumber } from './rows.ts';
import {
  keyText,
  type Leaf,
  type Reference,
  resolveAdded,
  type SubsetCatalog,
  type SubsetTable,
} from './subset-catalog.ts';
import { assertTrusted, findCast, untrustedSchemas } from './untrusted-code.ts';

export interface FinderOptions {
  catalog: SubsetCatalog;
  withSession: WithResource<PostgresSession>;
  seed: number;
}

const PLACE_NUMBERS = 2;

/** Joins whole batches, so that the server chooses between an index and a scan. */
export async function createFinder(graph: Graph, { catalog, withSession, seed }: FinderOptions): Promise<RowFinder> {
  const leaves = new Map([...catalog.tables.values()].flatMap((table) => table.leaves.map((leaf) => [leaf.oid, leaf])));
  for (const relationship of [...graph.relationships, ...graph.cut].filter(({ added }) => added)) {
    const reference = await withSession((session) => resolveAdded(session, catalog, relationship));
    catalog.references.set(relationship.id, reference);
  }
  for (const relationship of graph.relationships)
    assertTrusted(relationship, referenceOf(catalog, relationship.id).code);

  function takeRows(lines: Uint8Array, take: (row: number) => void): void {
    forEachLine(lines, ([oid = 0, page = 0, line = 0]) => {
      const leaf = leaves.get(oid);
      if (leaf) take(rowNumber(leaf, { page, line }));
    });
  }

  /** Batches in sequence in one session: statements are long, and are built when the session is free. */
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

  function rowsOf(query: string, take: (row: number) => void): Promise<void> {
    return withSession((session) => session.lines(`COPY (${query}) TO STDOUT`, (lines) => takeRows(lines, take)));
  }

  return {
    async targets(target, take) {
      const table = catalog.tables.get(target.table);
      if (!table) throw new Error(`${target.table} was not checked`);
      if (target.where === undefined) return rowsOf(shareQuery(table, target.percent ?? 100, seed), take);
      const { where } = target;
      await withSession((session) => rowsWhere(session, { table, where, take: (lines) => takeRows(lines, take) }));
    },

    async referring({ id, to }, rows, take) {
      const reference = referenceOf(catalog, id);
      await askBatches({ rows, of: leavesOf(catalog, to), take: (lines) => takeRows(lines, take) }, (batch) => {
        const keys = `SELECT ${names(reference.refColumns)} FROM ${batch.leaf.from} r WHERE r.${isOneOf(batch)}`;
        const same = refersTo(reference, { own: 'f', other: 'k' });
        return `SELECT f.tableoid, f.ctid FROM (${keys}) k JOIN ${reference.from} f ON ${same}`;
      });
    },

    async referred({ id }, rows, take) {
      const reference = referenceOf(catalog, id);
      const find = (from: string, condition: string): string => {
        const keys = `SELECT DISTINCT ${names([...new Set(reference.columns)])} FROM ${from} f WHERE ${condition} AND ${refers(reference)}`;
        const same = refersTo(reference, { own: 'k', other: 'p' });
        return `SELECT p.tableoid, p.ctid FROM (${keys}) k JOIN ${reference.to} p ON ${same}`;
      };
      if (rows === 'all') return rowsOf(find(reference.from, 'true'), take);
      await askBatches({ rows, of: reference.fromLeaves, take: (lines) => takeRows(lines, take) }, (batch) =>
        find(batch.leaf.from, `f.${isOneOf(batch)}`),
      );
    },

    async references(relationship, rows, take) {
      const reference = referenceOf(catalog, relationship.id);
      assertTrusted(relationship, reference.code);
      const takePairs = (lines: Uint8Array, { leaf }: Batch): void =>
        forEachLine(lines, ([page = 0, line = 0, oid = 0, otherPage = 0, otherLine = 0], count) => {
          const other = count > PLACE_NUMBERS ? leaves.get(oid) : undefined;
          const referred = other ? rowNumber(other, { page: otherPage, line: otherLine }) : null;
          take(rowNumber(leaf, { page, line }), referred);
        });
      await askBatches({ rows, of: reference.fromLeaves, take: takePairs }, (batch) => {
        const same = refersTo(reference, { own: 'f', other: 'p' });
        const from = `${batch.leaf.from} f LEFT JOIN ${reference.to} p ON ${same}`;
        return `SELECT f.ctid, p.tableoid, p.ctid FROM ${from} WHERE f.${isOneOf(batch)} AND ${refers(reference)}`;
      });
    },
  };
}

/** Returns the condition that the row `f` has a reference: none of the columns is null. */
export function refers({ columns }: Reference): string {
  return columns.map((column) => `f.${quoteName(column)} IS NOT NULL`).join(' AND ');
}

/** By the operators of the constraint, with the referenced column first. */
export function refersTo(
  { columns, refColumns, operators }: Reference,
  { own, other }: { own: string; other: string },
): string {
  return columns
    .map((column, at) => `${other}.${quoteName(refColumns[at] ?? '')} ${operators[at]} ${own}.${quoteName(column)}`)
    .join(' AND ');
}

function leavesOf({ tables }: SubsetCatalog, table: string): Leaf[] {
  return tables.get(table)?.leaves ?? [];
}

/** Stable whatever the order on disk: by a hash of the key, or of the whole row. */
function shareQuery(table: SubsetTable, percent: number, seed: number): string {
  const key = table.primaryKey.map(keyText);
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
 * A user's condition, with the search path of its table, without schemas that have code of other roles: an operator that
 * fits better wins over pg_catalog in any order. EXPLAIN first: after an open quote psql would wait for more
 * input.
 */
async function rowsWhere(session: PostgresSession, { table, where, take }: Condition): Promise<void> {
  const query = `SELECT tableoid, ctid FROM ${table.fromNamed} WHERE (${where}\n)`;
  if (!isOneStatement(query)) throw refusedCondition({ table, where }, 'it is not one expression');
  // A text that leaves its parentheses does not fit into both places.
  const inCase = `SELECT CASE WHEN (${where}\n) THEN 1 END FROM ${table.fromNamed}`;
  const explain = [inCase, query].map((each) => `EXECUTE ${quoteText(`EXPLAIN ${each}`)};`);
  const check = `BEGIN ${explain.join(' ')} END`;
  const cast = await findCast(session);
  if (cast !== null) throw refusedCondition({ table, where }, `it can run ${cast}`, { hint: CAST_HINT });
  const schemas = [splitName(table.name).schema, 'public'];
  const untrusted = await untrustedSchemas(session, schemas);
  const trusted = schemas.filter((schema) => !untrusted.includes(schema));
  const path = trusted.length > 0 ? trusted : ['pg_catalog'];
  await session.execute('SAVEPOINT condition');
  try {
    await session.execute(`SET LOCAL search_path = ${names(path)}`);
    await session.execute(`DO ${quoteText(check)}`);
    await session.lines(`COPY (${query}) TO STDOUT`, take);
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    await session.execute('ROLLBACK TO condition');
    const isUnknown = untrusted.length > 0 && UNKNOWN_NAME.includes(error.sqlstate);
    const hint = `Qualify names with their schemas: other roles have code in ${untrusted.join(', ')}, where no names are looked up.`;
    throw refusedCondition({ table, where }, redact(error.message), { cause: error, ...(isUnknown && { hint }) });
  }
  await session.execute('SET LOCAL search_path = pg_catalog');
}

/** Reports whether the query is one statement, by the rules of psql and the server, without commands of psql. */
function isOneStatement(query: string): boolean {
  try {
    return splitText(query, createSplitter()).length === 1;
  } catch (error) {
    if (error instanceof ScriptProblem) return false;
    throw error;
  }
}

/** SQLSTATE of an unknown function or operator, relation, and type. */
const UNKNOWN_NAME = ['42883', '42P01', '42704'];

const CAST_HINT = 'Connect as a role without rights over others, or use a share of the rows (percent).';

const CONDITION_HINT = 'Correct it in subset_tables; it is what would stand after WHERE in a query of this one table.';

function refusedCondition(
  { table, where }: Omit<Condition, 'take'>,
  why: string,
  { hint = CONDITION_HINT, cause }: { hint?: string; cause?: Error } = {},
): UserError {
  return new UserError('subset_invalid', `The condition for ${table.name} is refused: ${why}`, {
    details: [`where: ${where}`],
    hint,
    ...(cause && { cause }),
  });
}

function names(columns: string[]): string {
  return columns.map(quoteName).join(', ');
}
