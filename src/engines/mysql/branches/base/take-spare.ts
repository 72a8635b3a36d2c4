import { createHash } from 'node:crypto';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { usableSpare } from '../../../shared/base-copies.ts';
import { readDefinitions } from '../../catalog/definitions/read-definitions.ts';
import { tablesOf } from '../../catalog/tables.ts';
import { withServer } from '../../connection/connect.ts';
import { quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { BASE, isReserved, RETIRED } from '../../server/names.ts';
import { readAuxiliaryNames, tryLock } from '../../server/server.ts';
import type { Rename } from '../../swap/journal-schema.ts';
import { dropAuxiliaryDatabase } from '../../swap/shadow-databases.ts';
import { renameStatement } from '../../swap/swap-packet.ts';
import { haveRows } from './base-changes.ts';
import { findBaseCopies } from './base-copies.ts';
import { type BaseRecord, readBaseRecord } from './base-record.ts';

interface TakenSpare {
  url: DatabaseUrl;
  /** An empty database. */
  to: string;
  base: BaseRecord;
}

/** Takes the spare for another database than the destination, unless another run works with that. */
export async function takeSpareUnlessBusy(context: EngineContext, taken: TakenSpare): Promise<boolean> {
  return withServer(context, taken.url, async (server) => {
    if (!(await tryLock(server, taken.url.database ?? ''))) return false;
    return takeSpare(context, server, taken);
  });
}

/**
 * Gives the tables of the spare to another database, under the lock of the destination; `false` for a spare that was
 * changed, or that a client uses. It is examined when the new names keep clients out, whose transactions the renames
 * wait for.
 */
export async function takeSpare(context: EngineContext, server: MysqlSession, { url, to, base }: TakenSpare) {
  const destination = url.database ?? '';
  const { of, spare } = await readAuxiliaryNames(server, destination);
  if (!usableSpare(await findBaseCopies(server, destination))) return false;
  const record = await readBaseRecord(server, { database: spare, table: BASE, of });
  if (record?.id !== base.id) return false;
  const tables = (await tablesOf(server, spare)).filter((name) => !isReserved(name));
  const renames: Rename[] = [
    { from: [spare, BASE], to: [spare, RETIRED] },
    ...tables.map((name): Rename => ({ from: [spare, name], to: [to, name] })),
  ];
  await server.execute(`SET lock_wait_timeout = ${LOCK_WAIT}`);
  await server.execute(`DROP TABLE IF EXISTS ${quotePath(spare, RETIRED)}`);
  const [renamed] = await server.queryEach([renameStatement(renames)]);
  await server.execute('SET lock_wait_timeout = DEFAULT');
  if (renamed instanceof SqlError) return false;
  if ((await digestOf(server, to)) === record.digest && (await haveRows(server, { database: to, of: spare, record }))) {
    await dropAuxiliaryDatabase(context, server, { name: spare, destination });
    return true;
  }
  await server.execute(renameStatement(renames.toReversed().map(({ from, to }) => ({ from: to, to: from }))));
  return false;
}

/** Seconds that the renames wait for clients of the spare: a copy of the base copy takes its place. */
const LOCK_WAIT = 1;

/** Digest of the definitions of a spare. */
export async function digestOf(server: MysqlSession, database: string): Promise<string> {
  const { tables, sequences, triggers } = await readDefinitions(server, database, () => {});
  // A spare has none, and the server renames no table with one.
  const added = triggers.length > 0 ? [triggers] : [];
  const own = [tables.filter(({ name }) => !isReserved(name)), sequences, ...added];
  return createHash('sha256').update(JSON.stringify(own)).digest('hex');
}
