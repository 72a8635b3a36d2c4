import { restoreFailed } from '../../shared/restore-failed.ts';
import type { TableDefinition } from '../catalog/definitions/definitions.ts';
import { hasOwnRows, traitsOf } from '../catalog/table-traits.ts';
import { type ListedTable, readTableList } from '../catalog/tables.ts';
import type { MysqlSession } from '../connection/session.ts';

/**
 * Compares the storage engines that the server's catalog names with the definitions: a table that reaches out of the
 * database has an engine of its own.
 */
export async function assertEnginesUsed(
  session: MysqlSession,
  database: string,
  definitions: Pick<TableDefinition, 'name' | 'create'>[],
): Promise<void> {
  const asked = new Map([...traitsOf(definitions)].map(([name, { engines }]) => [name.toLowerCase(), engines]));
  const isAsked = ({ name, engine }: ListedTable): boolean =>
    engine === null || hasOwnRows(engine) || (asked.get(name.toLowerCase()) ?? []).includes(engine.toUpperCase());
  const others = (await readTableList(session, database)).filter((table) => !isAsked(table));
  if (others.length === 0) return;
  throw restoreFailed(
    'Tables have another storage engine than their definitions',
    others.map(({ name, engine }) => `${name}: ${engine}`),
  );
}
