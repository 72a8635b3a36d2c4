import { EXIT, UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../engine.ts';
import { ConnectionLost, SqlError } from './session.ts';

export async function withExplainedErrors<Result>(url: DatabaseUrl, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof ConnectionLost) throw connectionLost(url, thrown);
    if (thrown instanceof SqlError) throw statementRefused(url, thrown);
    throw thrown;
  }
}

function connectionLost(url: DatabaseUrl, cause: ConnectionLost): UserError {
  return new UserError(`The connection to ${url.display} was lost`, {
    code: 'connection_lost',
    exit: EXIT.unreachable,
    details: [cause.message],
    hint: 'Is the server still running? Partial work was removed, or will be on the next run. Then try again.',
    cause,
  });
}

function statementRefused(url: DatabaseUrl, cause: SqlError): UserError {
  return new UserError(`The server of ${url.display} refuses a statement`, {
    code: 'statement_refused',
    exit: EXIT.failed,
    details: [`${cause.errno}: ${cause.message}`],
    hint: 'The user probably lacks a privilege: GRANT it, or use another user. docs/mysql.md lists those that are needed.',
    cause,
  });
}
