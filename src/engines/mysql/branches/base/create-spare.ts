import { redact } from '../../../../process/redact.ts';
import { startStep } from '../../../../runtime/events.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { connectToServer } from '../../connection/connect.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { BASE, RETIRED } from '../../server/names.ts';
import { createDatabase, readAuxiliaryNames, tryLock } from '../../server/server.ts';
import { writeRecord } from '../../swap/record.ts';
import { dropAuxiliaryDatabase } from '../../swap/shadow-databases.ts';
import { provableStates, recordUnwritten } from '../in-place/unwritten-tables.ts';
import { fillFromBase, findBaseCopies, writeCopyRecord } from './base-copies.ts';
import { readBaseRecord } from './base-record.ts';
import { digestOf } from './take-spare.ts';

/** Makes a spare of a usable base copy that has none, unless another run uses the destination. */
export async function replaceTakenSpare(context: EngineContext, url: DatabaseUrl): Promise<void> {
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url, { several: true });
  // The server may end late the session that has dropped branches.
  if (!(await tryLock(server, destination, { seconds: 1 }))) return;
  const { base, spare } = await findBaseCopies(server, destination);
  if (base?.outdated === null && spare === null) await createSpare(context, server, url);
}

/**
 * Makes the next spare from the base copy, while the destination is in use. A failure costs the next reset its speed
 * and nothing else, so it is a warning.
 */
export async function createSpare(
  context: EngineContext,
  server: MysqlSession,
  url: DatabaseUrl,
): Promise<string | null> {
  const destination = url.database ?? '';
  const { of, base, spare } = await readAuxiliaryNames(server, destination);
  const record = await readBaseRecord(server, { database: base, table: BASE, of });
  if (!record) return null;
  const made = startStep(context.report, 'spare', `Create the spare ${spare}`);
  try {
    await dropAuxiliaryDatabase(context, server, { name: spare, destination });
    await createDatabase(server, { name: spare, collations: record.definitions });
    await writeRecord(server, { database: spare, table: RETIRED, value: record });
    const rows = await fillFromBase(context, { url, to: spare, base: { name: base, record }, rowsLast: true });
    context.signal.throwIfAborted();
    const digest = await digestOf(server, spare);
    const states = await provableStates(server, spare);
    await recordUnwritten(server, { database: spare, base: record.id, states });
    await writeCopyRecord(server, { database: spare, record: { ...record, digest }, rows });
    made(`Created the spare ${spare}`);
    return spare;
  } catch (error) {
    await dropAuxiliaryDatabase(context, server, { name: spare, destination });
    const reason = context.signal.aborted ? 'interrupted' : redact(error instanceof Error ? error.message : `${error}`);
    const message = `The spare ${spare} was not created: ${reason}`;
    context.report({ event: 'warning', code: 'spare_not_created', message });
    return null;
  }
}
