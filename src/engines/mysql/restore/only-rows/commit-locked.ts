import { isDeepStrictEqual } from 'node:util';
import { UserError } from '../../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { CodeDefinitions } from '../../catalog/definitions/definitions.ts';
import { readServer } from '../../catalog/introspect.ts';
import { connect } from '../../connection/connect.ts';
import { asTable, quoteName, quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { onRefusal, SqlError } from '../../connection/session-errors.ts';
import { withDatabase } from '../../connection/url.ts';
import { verifyLock } from '../../server/server.ts';
import { MOVED, PENDING } from '../../swap/journal-schema.ts';
import { SETTINGS, SETTINGS_BACK } from '../../swap/row-exchange.ts';
import { assertPacketFits } from '../../swap/send-swap.ts';
import { createMissing } from '../../swap/settle-code.ts';
import type { RowsOf, UndoTable } from '../../swap/undo-copy.ts';
import { countRows, readReferences, verifyReferences } from './references.ts';
import { createStatements, dropStatements, tidyTriggers, triggerTimes, tryTriggers } from './triggers.ts';

export interface LockedCommit {
  replaced: RowExchangeOptions;
  server: MysqlSession;
  work: string;
  /** An empty database for the arriving rows. */
  stage: string;
  /** The code to create again when the packet fails: the triggers of the tables. */
  before: CodeDefinitions;
  /** `triggerTimes` before that code was read. */
  known: string;
  /** Called when nothing may interrupt the server's session any more. */
  begun: () => void;
}

/**
 * Replaces rows of tables with triggers, which no transaction turns off. The rows are loaded beside the destination and
 * verified there. Then a packet, which the server runs to its end without its client, drops the triggers, replaces the
 * rows and creates the triggers again, while the tables are locked. It runs in the session with the destination's lock,
 * so that no other run begins before its end.
 */
export async function commitLocked(context: EngineContext, given: LockedCommit): Promise<void> {
  const { server, work, stage, before, known, begun } = given;
  const { triggers } = before;
  const { url, schema, tables } = given.replaced;
  const database = url.database ?? '';
  const { flavour } = await readServer(server);
  for (const { table } of tables) {
    await server.execute(`CREATE TABLE ${quotePath(stage, table)} LIKE ${quotePath(database, table)}`);
  }
  await tryTriggers(server, { database: stage, triggers, flavour });
  await using session = await connect(context, withDatabase(url, stage));
  for (const statement of [SETTINGS, 'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ', 'START TRANSACTION'])
    await session.execute(statement);
  for (const { fill } of tables) await fill(session);
  await session.execute('COMMIT');

  // Also tables that the server locks with the others: what their triggers write, and what their foreign keys change.
  const findReferences = () => readReferences(session, { database, tables, schema, rowsIn: stage });
  const references = await findReferences();
  for (const statement of [
    SETTINGS,
    'SET autocommit = 0',
    `USE ${quoteName(database)}`,
    lockStatement(given, references),
  ])
    await server.execute(statement);
  const areTriggersSame = (await triggerTimes(server, database)) === known;
  if (!areTriggersSame || !isDeepStrictEqual(await findReferences(), references)) {
    throw new UserError('definitions_differ', `Triggers or foreign keys of ${database} were changed meanwhile`, {
      hint: 'The destination is unchanged. Run it again.',
    });
  }
  await verifyReferences(server, { references, tables });
  const moves = await planMoves(given);
  const [pending, moved] = [quotePath(work, PENDING), quotePath(work, MOVED)];
  const packet = [
    ...dropStatements(triggers, flavour),
    ...moves,
    `INSERT INTO ${moved} SELECT id, json FROM ${pending}`,
    `DELETE FROM ${pending}`,
    'COMMIT',
    ...createStatements(triggers, flavour),
  ];
  await assertPacketFits(server, packet);
  context.signal.throwIfAborted();
  await verifyLock(server, database);
  begun();
  const createAgain = (): Promise<void> => createMissing(context, server, { database, before });
  await server.query(packet.join('\n;\n')).catch(async (error) => {
    if (!(error instanceof SqlError)) throw error;
    await server.execute('ROLLBACK');
    await createAgain();
    throw error;
  });
  if (flavour === 'mysql') await tidyTriggers(server, { database, triggers }).catch(onRefusal(createAgain));
  for (const statement of ['UNLOCK TABLES', 'SET autocommit = 1', SETTINGS_BACK]) await server.execute(statement);
}

function lockStatement({ replaced, work, stage }: LockedCommit, references: { reads: string[] }[]): string {
  const { url, undo, tables } = replaced;
  const database = url.database ?? '';
  const locks = [
    ...tables.map(({ table }) => `${quotePath(database, table)} WRITE`),
    ...tables.map(({ table }) => `${quotePath(stage, table)} READ`),
    ...[...(undo ? tables.map(({ table }) => table) : []), PENDING, MOVED].map(
      (table) => `${quotePath(work, table)} WRITE`,
    ),
    ...new Set(references.flatMap(({ reads }) => reads.map((path) => `${path} READ`))),
  ];
  return `LOCK TABLES ${locks.join(', ')}`;
}

/** Keeps the rows for an undo, and returns the statements that replace them. */
async function planMoves({ replaced, server, work, stage }: LockedCommit): Promise<string[]> {
  const { url, undo, tables } = replaced;
  const moves: string[] = [];
  for (const { name, table, columns } of tables) {
    const [path, staged] = [quotePath(url.database ?? '', table), quotePath(stage, table)];
    const list = columns.map(quoteName).join(', ');
    // Also without an undo: it refuses a view, before the DELETE.
    const present = await countRows(server, `SELECT COUNT(*) AS amount FROM ${asTable(path)}`);
    if (undo) {
      const copy = `INSERT INTO ${quotePath(work, table)} (${list}) SELECT ${list} FROM ${asTable(path)}`;
      const kept = await server.execute(copy);
      if (kept.rows !== present) throw new Error(`${name}: ${present} rows were found, and ${kept.rows} kept`);
    }
    moves.push(`DELETE FROM ${path}`, `INSERT INTO ${path} (${list}) SELECT ${list} FROM ${asTable(staged)}`);
  }
  return moves;
}

export interface RowExchangeOptions {
  url: DatabaseUrl;
  undo: boolean;
  /** The branch that the rows of an undo are of. */
  rowsOf?: RowsOf | null | undefined;
  /** `schema` in the names of the snapshot. */
  schema: string;
  tables: (Omit<UndoTable, 'counter'> & {
    /** The next value of AUTO_INCREMENT afterwards. */
    counter: string;
    /** Called in a transaction, in the database of the empty table. */
    fill: (session: MysqlSession) => Promise<void>;
  })[];
}
