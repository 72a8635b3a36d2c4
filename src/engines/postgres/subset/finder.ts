import { EXIT, UserError } from '../../../errors.ts';
import { redact } from '../../../process/redact.ts';
import type { Graph } from '../../../subset/graph.ts';
import type { RowFinder } from '../../../subset/row-finder.ts';
import { quoteName, quoteText, type Session, SqlError } from '../connection/session.ts';
import { type Leaf, type Reference, resolveAdded, type SubsetCatalogue, type SubsetTable } from './catalogue.ts';
import { batchesOf, isOneOf, rowNumber } from './rows.ts';

/** Lends one of several sessions, which all see the same instant, for as long as the work takes. */
export type Lend = <T>(work: (session: Session) => Promise<T>) => Promise<T>;

export interface Finding {
  catalogue: SubsetCatalogue;
  lend: Lend;
  seed: number;
}

/** Finds rows by joins over whole batches, so that the server chooses between an index and reading the table once. */
export async function createFinder(graph: Graph, { catalogue, lend, seed }: Finding): Promise<RowFinder> {
  const leaves = new Map(
    [...catalogue.tables.values()].flatMap((table) => table.leaves.map((leaf) => [leaf.oid, leaf])),
  );
  for (const relationship of [...graph.relationships, ...graph.cut].filter(({ added }) => added)) {
    const reference = await lend((session) => resolveAdded(session, catalogue, relationship));
    catalogue.references.set(relationship.id, reference);
  }

  function referenceOf(id: string): Reference {
    const reference = catalogue.references.get(id);
    if (!reference) throw new Error(`the catalogue has no reference ${id}`);
    return reference;
  }

  function takeLine(line: string, take: (row: number) => void): void {
    const [oid = '', ctid = ''] = line.split('\t');
    const leaf = leaves.get(Number(oid));
    if (leaf) take(rowNumber(leaf, ctid));
  }

  /** `query` selects `tableoid` and `ctid`. */
  function rowsOf(query: string, take: (row: number) => void): Promise<void> {
    return lend((session) => session.lines(`COPY (${query}) TO STDOUT`, (line) => takeLine(line, take)));
  }

  return {
    async targets(target, take) {
      const table = catalogue.tables.get(target.table);
      if (!table) throw new Error(`${target.table} was not checked`);
      if (target.where === undefined) return rowsOf(shareQuery(table, target.percent ?? 100, seed), take);
      const { where } = target;
      await lend((session) => rowsWhere(session, { table, where, take: (line) => takeLine(line, take) }));
    },

    async referring({ id, to }, rows, take) {
      const reference = referenceOf(id);
      const { columns, refColumns } = reference;
      for (const batch of batchesOf(rows, leavesOf(catalogue, to))) {
        const keys = `SELECT ${names(refColumns)} FROM ${batch.leaf.from} r WHERE r.${isOneOf(batch)}`;
        const join = columns.map((column, index) =>
          compare(reference, index, { key: 'k', column: `f.${quoteName(column)}` }),
        );
        await rowsOf(
          `SELECT f.tableoid, f.ctid FROM (${keys}) k JOIN ${reference.from} f ON ${join.join(' AND ')}`,
          take,
        );
      }
    },

    async referred({ id }, rows, take) {
      const reference = referenceOf(id);
      const { columns, fromLeaves } = reference;
      const present = columns.map((column) => `f.${quoteName(column)} IS NOT NULL`).join(' AND ');
      const join = columns
        .map((_, index) => compare(reference, index, { key: 'p', column: `k.c${index}` }))
        .join(' AND ');
      const find = (from: string, condition: string): Promise<void> => {
        const keys = columns.map((column, index) => `f.${quoteName(column)} AS c${index}`).join(', ');
        const chosen = `SELECT DISTINCT ${keys} FROM ${from} f WHERE ${condition} AND ${present}`;
        return rowsOf(`SELECT p.tableoid, p.ctid FROM (${chosen}) k JOIN ${reference.to} p ON ${join}`, take);
      };
      if (rows === 'all') return find(reference.from, 'true');
      for (const batch of batchesOf(rows, fromLeaves)) await find(batch.leaf.from, `f.${isOneOf(batch)}`);
    },

    async references({ id }, rows, take) {
      const reference = referenceOf(id);
      const { columns, fromLeaves } = reference;
      const present = columns.map((column) => `f.${quoteName(column)} IS NOT NULL`).join(' AND ');
      const join = columns
        .map((column, index) => compare(reference, index, { key: 'p', column: `f.${quoteName(column)}` }))
        .join(' AND ');
      for (const batch of batchesOf(rows, fromLeaves)) {
        const query = `SELECT f.ctid, p.tableoid, p.ctid FROM ${batch.leaf.from} f LEFT JOIN ${reference.to} p ON ${join}
          WHERE f.${isOneOf(batch)} AND ${present}`;
        await lend((session) =>
          session.lines(`COPY (${query}) TO STDOUT`, (line) => {
            const [own = '', oid = '', ctid = ''] = line.split('\t');
            const leaf: Leaf | undefined = leaves.get(Number(oid));
            take(rowNumber(batch.leaf, own), leaf ? rowNumber(leaf, ctid) : null);
          }),
        );
      }
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
  const value = key.length > 0 ? `concat_ws(',', ${key.join(', ')})` : '(t.*)::text';
  return `SELECT t.tableoid, t.ctid FROM ${table.from} t ORDER BY md5(${value} || ' ' || ${quoteText(String(seed))}), ${value}, t.ctid
    LIMIT (SELECT ceil(count(*) * ${percent}::numeric / 100)::int8 FROM ${table.from})`;
}

interface Condition {
  table: SubsetTable;
  where: string;
  take: (line: string) => void;
}

/**
 * The rows that meet a condition of the user's, whose functions and operators are looked for where theirs are. The
 * server reads it as a text first: what is no condition (an open quote, say) would make psql wait for its end.
 */
async function rowsWhere(session: Session, { table, where, take }: Condition): Promise<void> {
  const query = `SELECT tableoid, ctid FROM ${table.from} WHERE (${where}\n)`;
  const check = `BEGIN EXECUTE ${quoteText(`EXPLAIN ${query}`)}; END`;
  const schema = table.name.slice(0, table.name.indexOf('.'));
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
