import { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine-context.ts';
import { type ColumnRow, readColumns } from '../catalog/columns.ts';
import { significant } from '../catalog/definitions/tokens.ts';
import { readServer } from '../catalog/introspect.ts';
import type { CatalogTable } from '../catalog/tables.ts';
import { asTable, quoteName, quotePath, tablesIn } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';

/** A condition on the rows of a table, for values that their text or definition does not carry. */
interface Doubt {
  column: ColumnRow;
  condition: string;
  /** The snapshot could not be loaded. */
  fatal: boolean;
  why: string;
}

/**
 * Types of a JSON scalar that its text does not preserve: the text of a DECIMAL is read as DOUBLE, that of a DATE as
 * string.
 */
const JSON_TYPES = "'DECIMAL', 'DATE', 'TIME', 'DATETIME', 'TIMESTAMP', 'BLOB', 'BIT', 'OPAQUE'";

/**
 * Finds values that no text carries, as rows are transferred: a warning for each column. Rejects for members of an ENUM
 * or SET that the server itself cannot write in its definition, since rows with them could not be loaded.
 */
export async function reportLossyValues(
  { report }: Pick<EngineContext, 'report'>,
  session: MysqlSession,
  { database, tables }: { database: string; tables: CatalogTable[] },
) {
  const doubts = await findDoubts(session, { database, tables });
  for (const [table, ofTable] of Map.groupBy(doubts, ({ column }) => column.table)) {
    const counts = ofTable.map(({ condition }, at) => `COALESCE(SUM(${condition}), 0) AS n${Number(at)}`);
    const [row = {}] = await session.query<Record<string, number | string>>(
      `SELECT ${counts.join(', ')} FROM ${asTable(quotePath(database, table))}`,
    );
    for (const [at, { column, fatal, why }] of ofTable.entries()) {
      const rows = Number(row[`n${at}`]);
      if (rows === 0) continue;
      const where = `${table}.${column.name}`;
      if (fatal) throw unwritable(where);
      report({ event: 'warning', code: 'values_lossy', message: `${where}: ${why} (rows: ${rows})` });
    }
  }
}

async function findDoubts(session: MysqlSession, { database, tables }: { database: string; tables: CatalogTable[] }) {
  const { flavour } = await readServer(session);
  const kinds = flavour === 'mysql' ? "'json', 'enum', 'set'" : "'enum', 'set'";
  const columns = await readColumns(session, `${tablesIn(database)} AND DATA_TYPE IN (${kinds})`);
  const stored = new Map(tables.map(({ name, columns: all }) => [name, all]));
  const isStored = ({ table, name }: ColumnRow): boolean =>
    stored.get(table)?.some((column) => column.name === name && !column.generated) ?? false;
  return columns
    .filter(isStored)
    .flatMap((column) => (column.type === 'json' ? [jsonDoubt(column)] : memberDoubts(column)));
}

/** Within SUM: in WHERE, MySQL 9 answers as if there were no condition. */
function jsonDoubt(column: ColumnRow): Doubt {
  const scalars = `JSON_TABLE(JSON_EXTRACT(${quoteName(column.name)}, '$**[0]'), '$[*]' COLUMNS (tool_value JSON PATH '$')) AS tool_scalars`;
  return {
    column,
    condition: `EXISTS (SELECT 1 FROM ${scalars} WHERE JSON_TYPE(tool_scalars.tool_value) IN (${JSON_TYPES}))`,
    fatal: false,
    why: 'its JSON has values whose text is read as another type: DECIMAL becomes DOUBLE, dates, times and bytes become strings',
  };
}

function memberDoubts(column: ColumnRow): Doubt[] {
  const members = significant(column.full_type).flatMap(({ kind, text }) => (kind === 'text' ? [text] : []));
  const name = quoteName(column.name);
  const doubts: Doubt[] = [];
  if (members.includes("''")) {
    doubts.push({
      column,
      condition: column.type === 'enum' ? `${name} + 0 = 0` : `${name} + 0 <> 0 AND ${name} = ''`,
      fatal: false,
      why:
        column.type === 'enum'
          ? "it has the error value of its ENUM (number 0), which becomes the member ''"
          : "it has the member '' of its SET alone, which becomes the empty set",
    });
  }
  if (members.some((member) => member.includes('?'))) {
    const text = `CONVERT(${name} USING utf8mb4) COLLATE utf8mb4_bin`;
    const known = members.reduce(
      (rest, member) => `REPLACE(${rest}, CONCAT(${member}, ','), '')`,
      `CONCAT(${text}, ',')`,
    );
    const isOther = column.type === 'enum' ? `${text} NOT IN (${members.join(', ')})` : `${known} <> ''`;
    doubts.push({ column, condition: `${name} + 0 <> 0 AND ${isOther}`, fatal: true, why: '' });
  }
  return doubts;
}

function unwritable(column: string): UserError {
  return new UserError(
    'member_unwritable',
    `The definition of ${column} lacks a member that rows have: the server writes it as "?"`,
    {
      hint: 'Nothing was stored. MySQL and MariaDB write no characters outside the basic plane (emoji) in the members of ENUM and SET: rename the member in the source, or use a VARCHAR.',
    },
  );
}
