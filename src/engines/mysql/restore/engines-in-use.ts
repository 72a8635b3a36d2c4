import { restoreFailed } from '../../shared/restore-failed.ts';
import type { TableDefinition } from '../catalog/definitions/definitions.ts';
import { significant } from '../catalog/definitions/tokens.ts';
import { hasOwnRows } from '../catalog/own-rows.ts';
import { enginesIn } from '../catalog/table-traits.ts';
import { tablesIn } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';

interface EngineRow {
  name: string;
  engine: string | null;
}

/**
 * Compares the storage engines that the server's catalog names with the definitions: a table that reaches out of the
 * database has an engine of its own.
 */
export async function refuseOtherEngines(
  session: MysqlSession,
  database: string,
  definitions: Pick<TableDefinition, 'name' | 'create'>[],
): Promise<void> {
  const created = await session.query<EngineRow>(
    `SELECT TABLE_NAME AS name, ENGINE AS engine FROM information_schema.TABLES WHERE ${tablesIn(database)} AND TABLE_TYPE <> 'VIEW'`,
  );
  const asked = new Map(
    definitions.map(({ name, create }) => [name.toLowerCase(), enginesIn(significant(create))] as const),
  );
  const isAsked = ({ name, engine }: EngineRow): boolean =>
    engine === null || hasOwnRows(engine) || (asked.get(name.toLowerCase()) ?? []).includes(engine.toUpperCase());
  const others = created.filter((table) => !isAsked(table));
  if (others.length === 0) return;
  throw restoreFailed(
    'Tables have another storage engine than their definitions',
    others.map(({ name, engine }) => `${name}: ${engine}`),
  );
}
