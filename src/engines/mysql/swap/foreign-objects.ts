import { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine-context.ts';
import { MARK } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { isReserved } from '../server/names.ts';
import { databaseExists, readAuxiliaryNames } from '../server/server.ts';
import { listShadowDatabases, reservedTables, undoCopyOf } from './shadow-databases.ts';

/** Finds objects that would block the swap, before the load starts. */
export async function assertNoForeignObjects(
  { report }: EngineContext,
  server: MysqlSession,
  { destination, undo }: { destination: string; undo: boolean },
): Promise<void> {
  const { foreign } = await listShadowDatabases(server, destination);
  if (foreign.length > 0) {
    const message = `Not removed, because the tool did not make it: ${foreign.join(', ')}`;
    report({ event: 'warning', code: 'leftover', message });
  }
  if (!(await databaseExists(server, destination))) return;
  await assertNoReservedTable(server, destination);
  if (!undo || (await undoCopyOf(server, destination)) !== 'foreign') return;
  const name = (await readAuxiliaryNames(server, destination)).undo;
  throw new UserError('database_name_taken', `The database "${name}" is not an undo copy of "${destination}"`, {
    hint: 'Nothing was changed. Rename or drop that database, or pass --no-undo.',
  });
}

export async function assertNoReservedTable(server: MysqlSession, database: string): Promise<void> {
  const [name] = (await reservedTables(server, database)).filter((table) => table !== MARK && isReserved(table));
  if (name === undefined) return;
  throw new UserError('name_reserved', `"${database}" holds a table "${name}", a name that is reserved for the tool`, {
    hint: 'The destination is unchanged. Rename the table.',
  });
}
