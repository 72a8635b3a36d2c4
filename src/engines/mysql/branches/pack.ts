import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { dropCode, dropListed } from '../catalog/definitions/code.ts';
import { readDependents } from '../catalog/definitions/foreign-keys.ts';
import { listCode } from '../catalog/definitions/read-definitions.ts';
import { connect } from '../connection/connect.ts';
import { LOCK_WAIT_TIMEOUT } from '../connection/error-numbers.ts';
import { quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { withDatabase } from '../connection/url.ts';
import { destinationName } from '../server/server.ts';
import { assertOwnDefiners } from '../swap/definers.ts';
import { readRecord, writeRecord } from '../swap/record.ts';
import { grantsOf } from '../swap/routine-grants.ts';
import { endTransactions, sessionsStay } from '../swap/send-swap.ts';
import { goForward, type SettleContext } from '../swap/settle-code.ts';
import { UNDO_COPY, type UndoCopyRecord, undoCopySchema } from '../swap/undo-copy.ts';

export interface BranchAddress {
  /** URL of the destination. */
  url: DatabaseUrl;
  database: string;
}

/** Seconds of waiting for transactions on the branch. */
const LOCK_WAIT = 10;

/**
 * Brings a branch into the form of an undo copy: tables, and a record of the code and rights that do not move with
 * them. Killed from here on, the next command for branches of the destination unpacks it.
 */
export async function packBranch(context: EngineContext, server: MysqlSession, { url, database }: BranchAddress) {
  await using session = await connect(context, withDatabase(url, database));
  const before = await readPacked(server, database);
  const record = before ?? {
    of: await destinationName(server, url.database ?? ''),
    replaced_at: context.clock().toISOString(),
    code: await readDependents(session, database, (what, why) => {
      throw unreadableCode(database, what, why);
    }),
    grants: await grantsOf(context, server, database),
  };
  if (!before) {
    await assertOwnDefiners(context, server, {
      database,
      destination: url.database ?? '',
      collations: record.code,
    });
    await writeRecord(server, { database, table: UNDO_COPY, value: record });
  }
  await endTransactions(server, database);
  await session.execute(`SET lock_wait_timeout = ${LOCK_WAIT}`);
  try {
    await dropCode(session, record.code);
    await dropListed(session, await listCode(session, database));
  } catch (error) {
    if (!(error instanceof SqlError && error.errno === LOCK_WAIT_TIMEOUT)) throw error;
    throw await sessionsStay(server, { cause: error, database });
  }
  return record;
}

function readPacked(server: MysqlSession, database: string): Promise<UndoCopyRecord | null> {
  return readRecord(server, { database, table: UNDO_COPY, schema: undoCopySchema });
}

/** Creates the code of a branch again; may be called again after a failure, and without a record does nothing. */
export async function unpackBranch(context: SettleContext, server: MysqlSession, { url, database }: BranchAddress) {
  const record = await readPacked(server, database);
  if (!record) return;
  const { code, grants = [] } = record;
  const journal = { made: false, before: code, after: code, definers: 'theirs', grants, obsolete: null } as const;
  const missing = await goForward(context, withDatabase(url, database), journal);
  if (missing.length > 0) throw restoreFailed(`Cannot recreate the code of ${database}`, missing);
  await server.execute(`DROP TABLE ${quotePath(database, UNDO_COPY)}`);
}

export function unreadableCode(database: string, what: string, why: string): UserError {
  return new UserError('switch_refused', `The ${what} of ${database} cannot be read: ${why}`, {
    hint: 'Nothing was changed. A switch recreates it under the other name: switch with a user that may read it, or drop it.',
  });
}
