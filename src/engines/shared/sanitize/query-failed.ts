import { redact } from '../../../process/redact.ts';
import { UserError } from '../../../runtime/errors.ts';
import { describeStatement, type Statement } from '../../../sanitize/statement.ts';

export const UNPUBLISHED = 'Nothing was published, and the destination is unchanged.';

export function connectionLostAt(statement: Statement, details: string[], cause: Error): UserError {
  return new UserError(
    'connection_lost',
    `The connection was lost while the query ran ${redact(describeStatement(statement))}`,
    { details, hint: `${UNPUBLISHED} The log of the server says why it ended the session.`, cause },
  );
}

interface Refusal {
  where: string;
  details: string[];
  hint?: string;
  cause: Error;
}

export function queryFailed({ where, details, hint, cause }: Refusal): UserError {
  return new UserError('query_failed', `The sanitization query failed at ${where}`, {
    details,
    hint: hint ?? `${UNPUBLISHED} Correct the statement, then sanitize again.`,
    cause,
  });
}
