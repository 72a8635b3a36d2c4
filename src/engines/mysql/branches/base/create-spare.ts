import { redact } from '../../../../process/redact.ts';
import { startStep } from '../../../../runtime/events.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { tablesOf } from '../../catalog/tables.ts';
import { connectToServer } from '../../connection/connect.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { BASE } from '../../server/names.ts';
import { createDatabase, readAuxiliaryNames, tryLock } from '../../server/server.ts';
import type { Rename } from '../../swap/journal-schema.ts';
import { createShadowDatabase, dropAuxiliaryDatabase } from '../../swap/shadow-databases.ts';
import { renameStatement } from '../../swap/swap-packet.ts';
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
 * Makes the next spare from the base copy, while the destination is in use. Until it is complete no client knows its
 * tables by name. A failure costs the next reset its speed and nothing else, so it is a warning.
 */
export async function createSpare(context: EngineContext, server: MysqlSession, url: DatabaseUrl) {
  const destination = url.database ?? '';
  const { of, base, spare, shadow: newName } = await readAuxiliaryNames(server, destination);
  const record = await readBaseRecord(server, { database: base, table: BASE, of });
  if (!record) return null;
  const made = startStep(context.report, 'spare', `Create the spare ${spare}`);
  const shadow = newName();
  const collations = record.definitions;
  try {
    await dropAuxiliaryDatabase(context, server, { name: spare, destination });
    await createShadowDatabase(server, { name: shadow, destination, collations });
    const rows = await fillFromBase(context, { url, to: shadow, base: { name: base, record }, rowsLast: true });
    context.signal.throwIfAborted();
    const digest = await digestOf(server, shadow);
    const states = await provableStates(server, shadow);
    await recordUnwritten(server, { database: shadow, base: record.id, states });
    await writeCopyRecord(server, { database: shadow, record: { ...record, digest }, rows });
    const tables = await tablesOf(server, shadow);
    await createDatabase(server, { name: spare, collations });
    // The record first: it says whose the others are.
    const renames = [BASE, ...tables.filter((name) => name !== BASE)].map(
      (name): Rename => ({ from: [shadow, name], to: [spare, name] }),
    );
    await server.execute(renameStatement(renames));
    await dropAuxiliaryDatabase(context, server, { name: shadow, destination });
    made(`Created the spare ${spare}`);
    return spare;
  } catch (error) {
    for (const name of [shadow, spare]) await dropAuxiliaryDatabase(context, server, { name, destination });
    const reason = context.signal.aborted ? 'interrupted' : redact(error instanceof Error ? error.message : `${error}`);
    const message = `The spare ${spare} was not created: ${reason}`;
    context.report({ event: 'warning', code: 'spare_not_created', message });
    return null;
  }
}
