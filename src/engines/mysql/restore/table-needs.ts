import type { NeededTable } from '../../../results/selected-tables.ts';
import type { DefinitionsRequest } from '../../facets/restore.ts';
import type { TableDefinition } from '../catalog/definitions/definitions.ts';
import { referredTable } from '../catalog/definitions/table-entries.ts';
import { detailsOf } from '../details.ts';
import { readDefinitionsFile } from './rows/fill.ts';

/** Foreign keys, as the snapshot's definitions have them; the parts of a partitioned table are one table here. */
export async function readNeeds({ manifest, read }: DefinitionsRequest): Promise<NeededTable[]> {
  const { database } = detailsOf(manifest);
  const { definitions } = await readDefinitionsFile(manifest, read);
  return needsOf(definitions.tables, database);
}

export function needsOf(tables: Pick<TableDefinition, 'name' | 'foreignKeys'>[], database: string): NeededTable[] {
  const exact = new Set(tables.map(({ name }) => name));
  const folded = new Map(tables.map(({ name }) => [name.toLowerCase(), name]));
  // A server may write names of tables in lower case here that it has otherwise.
  const known = (name: string): string => (exact.has(name) ? name : (folded.get(name.toLowerCase()) ?? name));
  return tables.flatMap(({ name, foreignKeys }) =>
    foreignKeys.flatMap((clause): NeededTable[] => {
      const clauseTable = referredTable(clause);
      const referred = clauseTable === null ? null : known(clauseTable);
      if (referred === null || referred === name) return [];
      return [{ table: `${database}.${referred}`, needed_by: `${database}.${name}`, why: 'reference' }];
    }),
  );
}
