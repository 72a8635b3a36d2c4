import type { ManifestTable } from '../../../../repository/manifest/manifest.ts';
import type { TableDifference } from '../../../shared/rows/compare-tables.ts';
import { quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { ArchiveDetails } from '../../dump/archive.ts';
import { dataOf } from '../rows/copy-commands.ts';
import { withAncestors } from './set-aside.ts';

/** A unique index by which rows are found. */
export interface TableKey {
  columns: string[];
  /** The operator of each that the index takes for equality: `OPERATOR(pg_catalog.=)`. */
  operators: string[];
}

/** Rows to replace, in an order that foreign keys between the tables allow. */
export interface Replacement extends TableDifference {
  key: TableKey;
  /** Tables that it refers to and that have new rows have a lower number. */
  turn: number;
}

export const NO_KEY = 'it has no usable key';

interface FoundKey {
  table: number;
  obstacle: string | null;
  key: TableKey | null;
}

/** Finds the keys of the tables and their order, or the reasons for which their rows cannot be replaced. */
export async function findReplacements(
  session: PostgresSession,
  differences: TableDifference[],
  details: ArchiveDetails,
): Promise<{ replacements: Replacement[]; whole: Map<string, string> }> {
  const whole = new Map<string, string>();
  if (differences.length === 0) return { replacements: [], whole };
  const given = givenTables(
    differences.map(({ table }) => table),
    details,
  );
  const found = new Map((await session.query<FoundKey>(keysQuery(given))).map((row) => [row.table, row]));
  const keyed = differences.flatMap((difference, index) => {
    const { obstacle = 'it does not exist', key = null } = found.get(index) ?? {};
    if (key && obstacle === null) return [{ ...difference, key, index }];
    whole.set(difference.table.name, obstacle ?? NO_KEY);
    return [];
  });
  const edges = await session.query<Edge>(`WITH ${given}, placed AS ${withAncestors('(SELECT index, oid FROM given)')}
    SELECT DISTINCT f.index AS "from", t.index AS "to" FROM pg_constraint k
      JOIN placed f ON f.relid = k.conrelid JOIN placed t ON t.relid = k.confrelid
    WHERE k.contype = 'f' AND k.conparentid = 0 AND f.oid <> t.oid`);
  const inserting = new Set(keyed.filter(({ added }) => added.length > 0).map(({ index }) => index));
  const turns = turnsOf(inserting, edges);
  return { replacements: keyed.map(({ index, ...rest }) => ({ ...rest, turn: turns.get(index) ?? 0 })), whole };
}

export function givenTables(tables: ManifestTable[], details: ArchiveDetails): string {
  const rows = tables.map((table, index) => {
    const { schema, table: name, columns } = dataOf(table, details);
    return { index, schema, table: name, columns };
  });
  return `given AS (
    SELECT j.index, c.oid, c.relkind, j.columns
    FROM json_to_recordset(${quoteText(JSON.stringify(rows))}) AS j (index integer, schema text, "table" text, columns json)
      JOIN pg_namespace n ON n.nspname = j.schema JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = j."table")`;
}

function keysQuery(given: string): string {
  return `WITH ${given}
    SELECT g.index AS "table",
      CASE WHEN g.relkind <> 'r' THEN 'it is no plain table'
        WHEN EXISTS (SELECT FROM pg_rewrite w WHERE w.ev_class = g.oid) THEN 'it has rules'
        WHEN NOT (has_table_privilege(g.oid, 'SELECT') AND has_table_privilege(g.oid, 'INSERT') AND has_table_privilege(g.oid, 'DELETE'))
          THEN 'the role may not change its rows' END AS obstacle,
      (SELECT json_build_object('columns', k.columns, 'operators', k.operators)
        FROM pg_index i CROSS JOIN LATERAL (
          SELECT json_agg(a.attname ORDER BY p.place) AS columns,
            json_agg(format('OPERATOR(%I.%s)', s.nspname, o.oprname) ORDER BY p.place) AS operators, count(*) AS amount
          FROM unnest(i.indkey::int2[], i.indclass::oid[], i.indcollation::oid[]) WITH ORDINALITY AS p (attnum, opclass, collated, place)
            JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = p.attnum AND a.attnotnull AND a.attcollation = p.collated
            JOIN pg_opclass c ON c.oid = p.opclass AND c.opcdefault
            JOIN pg_am m ON m.oid = c.opcmethod AND m.amname = 'btree'
            JOIN pg_amop e ON e.amopfamily = c.opcfamily AND e.amopstrategy = 3 AND e.amoplefttype = c.opcintype AND e.amoprighttype = c.opcintype
            JOIN pg_operator o ON o.oid = e.amopopr JOIN pg_namespace s ON s.oid = o.oprnamespace
          WHERE p.place <= i.indnkeyatts AND a.attname IN (SELECT json_array_elements_text(g.columns))) AS k
        WHERE i.indrelid = g.oid AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indisready
          AND i.indpred IS NULL AND i.indexprs IS NULL AND k.amount = i.indnkeyatts
        ORDER BY i.indisprimary DESC, i.indnkeyatts, i.indexrelid LIMIT 1) AS key
    FROM given g`;
}

/** A foreign key of one table to another one. */
interface Edge {
  from: number;
  to: number;
}

/** Numbers each table above those that it refers to; tables of a cycle get the same number. */
function turnsOf(tables: Set<number>, edges: Edge[]): Map<number, number> {
  const turns = new Map<number, number>();
  const left = new Set(tables);
  for (let turn = 0; left.size > 0; turn += 1) {
    const waiting = new Set(edges.filter(({ from, to }) => left.has(from) && left.has(to)).map(({ from }) => from));
    const ready = [...left].filter((table) => !waiting.has(table));
    for (const table of ready.length > 0 ? ready : [...left]) {
      turns.set(table, turn);
      left.delete(table);
    }
  }
  return turns;
}
