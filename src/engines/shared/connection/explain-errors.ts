import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';

interface ErrorExplanation {
  details: string[];
  hint?: string;
  cause: Error;
}

/** For a statement that the server could not write. */
export const DISK_FULL_HINT = 'A disk of the server is full. Free space there, and run the command again.';

const LOST_HINT = 'Is the server still running? Partial work was removed, or will be on the next run. Then try again.';

export function connectionLost(url: DatabaseUrl, { hint = LOST_HINT, ...explained }: ErrorExplanation): UserError {
  return new UserError('connection_lost', `The connection to ${url.display} was lost`, { hint, ...explained });
}

export function statementRefused(url: DatabaseUrl, explained: ErrorExplanation & { hint: string }): UserError {
  return new UserError('statement_refused', `The server of ${url.display} refuses a statement`, explained);
}
