import { splitName } from '../../../text/table-names.ts';
import type { StoredTable, TableRequest } from '../../facets/restore.ts';
import { readDefinitionsFile } from './rows/fill.ts';

export async function readTable({ manifest, table, read }: TableRequest): Promise<StoredTable | null> {
  const { definitions } = await readDefinitionsFile(manifest, read, { remoteTables: true });
  const { rest } = splitName(table);
  const own = definitions.tables.find(({ name }) => name === rest);
  if (!own) return null;
  const clauses = [...own.indexes.flat(), ...own.foreignKeys];
  return {
    text: [own.create, ...clauses.map((clause) => clause.trim())].join('\n').concat('\n'),
    key: keyIn(own.create),
  };
}

const PRIMARY_KEY = /\bPRIMARY KEY \(((?:`[^`]*`|[^()`]|\(\d+\))*)\)/;

function keyIn(create: string): string[] {
  const [, columns = ''] = PRIMARY_KEY.exec(create) ?? [];
  return [...columns.matchAll(/`((?:[^`]|``)*)`/g)].map(([, name = '']) => name.replaceAll('``', '`'));
}
