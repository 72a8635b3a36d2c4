import { quoteName } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';

/** By `evtenabled` of pg_event_trigger. */
const ENABLED: Record<string, string> = { O: 'ENABLE', R: 'ENABLE REPLICA', A: 'ENABLE ALWAYS' };

/**
 * Does work whose commands those of a restored database must not record: a refreshed view, a grant. No setting keeps
 * one from it that is enabled always, before version 17. Those of extensions are left alone, and so are those of others.
 */
export async function withoutEventTriggers<T>(session: PostgresSession, work: () => Promise<T>): Promise<T> {
  const enabling = await disableEventTriggers(session);
  const result = await work();
  for (const statement of enabling) await session.execute(statement);
  return result;
}

/** Resolves with the statements that enable them again, also of another session. */
export async function disableEventTriggers(session: PostgresSession): Promise<string[]> {
  const enabled = await session.query<{ name: string; state: string }>(`
    SELECT evtname AS name, evtenabled AS state FROM pg_event_trigger e
    WHERE evtenabled <> 'D' AND pg_has_role(evtowner, 'USAGE') AND NOT EXISTS (
      SELECT FROM pg_depend d WHERE d.classid = 'pg_event_trigger'::regclass AND d.objid = e.oid AND d.deptype = 'e')`);
  for (const { name } of enabled) await session.execute(`ALTER EVENT TRIGGER ${quoteName(name)} DISABLE`);
  return enabled.map(({ name, state }) => `ALTER EVENT TRIGGER ${quoteName(name)} ${ENABLED[state] ?? 'ENABLE'}`);
}
