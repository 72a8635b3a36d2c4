import { nullWhere } from '../../shared/rows/null-references.ts';
import { type CatalogTable, nonGeneratedColumns } from '../catalog/tables.ts';
import { asTable, quoteName, quotePath } from '../connection/quote.ts';
import type { Part } from './parts.ts';

/** In the order of the primary key, which is how InnoDB keeps the rows; as FLOAT the server would round them. */
export function selectOf(
  database: string,
  { name, key, columns }: Pick<CatalogTable, 'name' | 'key' | 'columns'>,
  part: Part,
): string {
  const expressions = nonGeneratedColumns({ columns }).map((column) => {
    const value = column.type === 'float' ? `${quoteName(column.name)} + 0e0` : quoteName(column.name);
    return nullWhere(column.nulledWhere, value);
  });
  const path = quotePath(database, name);
  const hint = key.length > 0 ? 'FORCE INDEX (PRIMARY)' : undefined;
  const where = part === null ? '' : ` WHERE ${part}`;
  const order = key.length > 0 ? ` ORDER BY ${key.map(quoteName).join(', ')}` : '';
  return `SELECT ${expressions.join(', ')} FROM ${asTable(path, '', hint)}${where}${order}`;
}
