import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { runWorkers } from '../../shared/run-together.ts';
import { connect } from './connect.ts';
import type { MysqlSession } from './session.ts';

const SESSIONS = 4;

interface SessionsWork<Item> {
  url: DatabaseUrl;
  /** Items are taken out of it. */
  queue: Item[];
  /** Most sessions at the same time. */
  sessions?: number;
  prepare?: (session: MysqlSession) => Promise<void>;
  work: (session: MysqlSession, item: Item) => Promise<void>;
}

/** Does the work on each item, by a few sessions at the same time. */
export async function inSessions<Item>(
  context: Pick<EngineContext, 'signal'>,
  { url, queue, sessions = SESSIONS, prepare, work }: SessionsWork<Item>,
): Promise<void> {
  await runWorkers(context.signal, {
    count: Math.min(sessions, queue.length),
    async work(signal) {
      await using session = await connect({ signal }, url);
      await prepare?.(session);
      for (let item = queue.shift(); item && !signal.aborted; item = queue.shift()) await work(session, item);
    },
  });
}
