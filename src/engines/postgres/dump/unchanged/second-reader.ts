import { UserError } from '../../../../runtime/errors.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { prepareSession } from '../../../shared/connection/prepare-session.ts';
import { connect } from '../../connection/connect.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import type { TableReads } from '../read-piece.ts';
import { inSnapshot, prepareReading } from '../read-tables.ts';
import { readFreeConnections } from '../rights.ts';
import { LEAST_PAGES } from './readers.ts';

/** Sessions beside the readers: that of pg_dump, and this one. */
const NEEDED = 2;

interface SecondReader extends Pick<TableReads, 'request' | 'session' | 'snapshot' | 'started'> {
  /** Blocks to be counted. */
  pages: number;
}

/** Opens a session that sees what the one of the dump sees; `null` where it is not worth it, or could take a needed one's place. */
export async function openSecondReader(
  context: EngineContext,
  { request: { url, cpus }, session, snapshot, started, pages }: SecondReader,
): Promise<PostgresSession | null> {
  try {
    if (pages < LEAST_PAGES || cpus < 2 || (await readFreeConnections(session)) < cpus + NEEDED) return null;
    const second = await connect(context, url);
    return await prepareSession(second, async () => {
      await prepareReading(second, { enable_seqscan: 'on' });
      for (const statement of inSnapshot({ snapshot, started })) await second.execute(statement);
    });
  } catch (error) {
    context.signal.throwIfAborted();
    // It saves time only.
    if (error instanceof UserError || error instanceof SqlError) return null;
    throw error;
  }
}
