import { UserError } from '../../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { connect } from '../../connection/connect.ts';
import { quoteName, quoteText } from '../../connection/quote.ts';
import { PLAIN_MEANING, type PostgresSession } from '../../connection/session.ts';
import { withDatabase } from '../../connection/url.ts';
import { findAuxiliaryDatabases, lockingBase } from '../../server/server.ts';
import { type MarkedDatabase, writeMark } from '../../swap/mark.ts';

/** Formats that are exact and the same in both databases, whatever they set. */
export const SETTINGS = {
  ...PLAIN_MEANING,
  ...{ DateStyle: 'ISO', IntervalStyle: 'postgres', TimeZone: 'UTC', extra_float_digits: '3', bytea_output: 'hex' },
  ...{ xmloption: 'content', lc_monetary: 'C', row_security: 'off' },
  ...{ statement_timeout: '0', synchronous_commit: 'on', lock_timeout: '2s' },
};

export interface OpenedBase {
  /** The destination. */
  url: DatabaseUrl;
  base: MarkedDatabase;
}

/**
 * Reads in a base copy, which refuses connections at all other times. The number of its sessions proves that no other
 * client was connected; the mark tells what of them this program has opened, so that a killed run harms nothing. Returns
 * `null` where the server counts no sessions, or somebody else came in.
 */
export async function withOpenBase<Result>(
  context: EngineContext,
  server: PostgresSession,
  { url, base: { name }, work }: OpenedBase & { work: (session: PostgresSession) => Promise<Result> },
): Promise<Result | null> {
  const reading = { base: name, timeout: '2s', by: 'pg_advisory_lock' } as const;
  return lockingBase(server, reading, async () => {
    // Others may have read in it meanwhile.
    const { base } = await findAuxiliaryDatabases(server, url.database ?? '');
    return base && readAlone(context, server, { url, base, work });
  }).catch((error) => {
    if (error instanceof UserError && error.code === 'destination_busy') return null;
    throw error;
  });
}

export const NOT_ALONE = 'another client was connected to the base copy, or the server counts no sessions';

async function readAlone<Result>(
  context: EngineContext,
  server: PostgresSession,
  { url, base, work }: OpenedBase & { work: (session: PostgresSession) => Promise<Result> },
): Promise<Result | null> {
  const { name, mark } = base;
  if (mark.sessions === undefined) return null;
  // A crash that undoes it leaves the base copy closed, or as a killed run does.
  await server.transaction([
    'SET LOCAL synchronous_commit = off',
    `REVOKE CONNECT ON DATABASE ${quoteName(name)} FROM PUBLIC`,
    `ALTER DATABASE ${quoteName(name)} ALLOW_CONNECTIONS true`,
    writeMark(name, { ...mark, reading: true }),
  ]);
  const counted = { ...mark, sessions: mark.sessions + 1 };
  let isCounted = false;
  try {
    await using session = await connect(context, withDatabase(url, name), {
      settings: { ...SETTINGS, default_transaction_read_only: 'on' },
      tablesOnly: true,
    });
    // The server counts it, whatever follows.
    isCounted = true;
    const [alone] = await server.query<{ sessions: number }>(
      `SELECT count(*) AS sessions FROM pg_stat_activity WHERE datname = ${quoteText(name)} AND backend_type = 'client backend'`,
    );
    // A session of before may still be about to end.
    if (alone?.sessions !== 1) return null;
    await server.execute(writeMark(name, { ...counted, reading: true }));
    return await work(session);
  } finally {
    await server.transaction([
      'SET LOCAL synchronous_commit = off',
      `ALTER DATABASE ${quoteName(name)} ALLOW_CONNECTIONS false`,
      writeMark(name, isCounted ? counted : mark),
    ]);
  }
}
