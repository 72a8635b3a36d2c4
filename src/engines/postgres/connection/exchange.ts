import { redact } from '../../../process/redact.ts';
import type { Report } from '../../../runtime/events.ts';
import { SqlError } from './session-errors.ts';

/** A limit on a login; a paused server in a cloud starts within it. */
export const LOGIN_TIMEOUT_MS = 60_000;

export interface SendOptions {
  take?: (lines: Buffer) => void;
  /** The statement as psql is to read it. */
  script?: string;
  isForeign?: boolean;
  /** Logged in place of the statement. */
  told?: string;
}

export type Send = (statement: string, options?: SendOptions) => Promise<string>;

/** A running psql or a connection of our own. Statements go to it in sequence. */
export interface Exchange {
  send: Send;
  close(): Promise<void>;
}

export const SUCCESS = '00000';

/** Statements with thousands of rows are logged up to here. */
const TOLD_CHARACTERS = 4000;

export function reported(send: Send, report: Report): Send {
  return async (statement, options) => {
    const startedAt = performance.now();
    const tell = (sqlstate: string | null) => {
      const duration_ms = Math.round(performance.now() - startedAt);
      const told = options?.told ?? statement.slice(0, TOLD_CHARACTERS);
      report({ event: 'statement', statement: redact(told), sqlstate, duration_ms });
    };
    try {
      const answer = await send(statement, options);
      tell(SUCCESS);
      return answer;
    } catch (error) {
      tell(error instanceof SqlError ? error.sqlstate : null);
      throw error;
    }
  };
}
