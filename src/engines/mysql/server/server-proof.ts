import { randomBytes } from 'node:crypto';
import type { DatabaseUrl } from '../../database-url.ts';
import { quoteText } from '../connection/quote.ts';
import { openSession } from '../connection/session.ts';

/**
 * Tells a new server from a process of another user, who reads the port in its arguments, takes it first and lets
 * anybody in. A setting without effect, which nobody can read without the password, has the secret.
 */
export interface ServerProof {
  /** Run before the server accepts connections. */
  statement: string;
  /** Reports whether the server of the URL has run it. Rejects where it cannot be asked. */
  isGiven(url: DatabaseUrl, signal: AbortSignal): Promise<boolean>;
}

/** One that accepts connections and never answers is not ours either. */
const ANSWER_MS = 10_000;

export function createServerProof(): ServerProof {
  const secret = randomBytes(16).toString('hex');
  return {
    statement: `SET GLOBAL general_log_file = ${quoteText(secret)}`,
    async isGiven(url, signal) {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
      await using session = await openSession({ url, signal: limited });
      const rows = await session.query<{ proof: string }>('SELECT @@global.general_log_file AS proof');
      return Array.isArray(rows) && rows[0]?.proof === secret;
    },
  };
}
