import type { EngineContext } from '../../engine-context.ts';
import { quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';

/** One transaction sees one instant; it only reads. */
const BEGIN = [
  'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY',
  'START TRANSACTION WITH CONSISTENT SNAPSHOT',
];

/**
 * Most seconds that writers wait for our lock, which waits for any running statement; and that a reader waits for a
 * table that another session wants to change, which waits for another reader of ours.
 */
const LOCK_WAIT = 10;

/** A session of its own, in this thread or another. */
interface Reader {
  execute(statement: string): Promise<unknown>;
}

interface Instant<R extends Reader> {
  database: string;
  tables: string[];
  readers: R[];
}

/**
 * Gives every reader the same instant: while a lock keeps writers out, for as long as it takes to begin the
 * transactions. Where the user may not lock only one reader is left. The result is those that have begun.
 */
export async function beginInstant<R extends Reader>(
  { report }: Pick<EngineContext, 'report'>,
  session: MysqlSession,
  { database, tables, readers }: Instant<R>,
): Promise<R[]> {
  const [first, ...others] = readers;
  if (!first) throw new Error('there is no reader');
  if (others.length > 0) {
    const list = tables.map((table) => `${quotePath(database, table)} READ`).join(', ');
    const locks = ['FLUSH TABLES WITH READ LOCK', ...(list === '' ? [] : [`LOCK TABLES ${list}`])];
    const limit = `SET SESSION lock_wait_timeout = ${LOCK_WAIT}`;
    await Promise.all([session, ...readers].map((one) => one.execute(limit)));
    let refusal = '';
    for (const lock of locks) {
      try {
        await session.execute(lock);
      } catch (error) {
        if (!(error instanceof SqlError)) throw error;
        refusal = error.message;
        continue;
      }
      await Promise.all(readers.map(begin));
      await session.execute('UNLOCK TABLES');
      return readers;
    }
    const message = `The tables could not be locked for a moment, so one worker reads them all: ${refusal}`;
    report({ event: 'warning', code: 'lock_refused', message });
    await first.execute('SET SESSION lock_wait_timeout = DEFAULT');
  }
  await begin(first);
  return [first];
}

async function begin(reader: Reader): Promise<void> {
  for (const statement of BEGIN) await reader.execute(statement);
}
