import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { Place } from '../../engine.ts';
import { connectionLost, DISK_FULL_HINT, statementRefused } from '../../shared/connection/explain-errors.ts';
import { NO_SUCH_KEY } from './error-numbers.ts';
import { ConnectionLost, SqlError } from './session-errors.ts';

/** ER_DISK_FULL, ER_RECORD_FILE_FULL. */
const DISK_FULL = new Set([1021, 1114]);

const RIGHTS_HINT =
  'The user probably lacks a privilege: GRANT it, or use another user. docs/mysql.md lists those that are needed.';

export function sourceWithoutDatabase({ display }: Pick<DatabaseUrl, 'display'>): UserError {
  return new UserError('url_invalid', `The source ${display} names no database`, {
    hint: 'Add its name at the end: mysql://user@host:3306/database',
  });
}

export async function withExplainedErrors<Result>({ url }: Place, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ConnectionLost) throw connectionLost(url, { details: [cause.message], cause });
    if (!(cause instanceof SqlError)) throw cause;
    const details = [`${cause.errno}: ${cause.message}`];
    if (cause.errno === NO_SUCH_KEY) throw viewInPlace(url, { details, cause });
    const hint = DISK_FULL.has(cause.errno) ? DISK_FULL_HINT : RIGHTS_HINT;
    throw statementRefused(url, { details, hint, cause });
  }
}

/** The message ends with the name of the table, in any language; the key is `(null)` unless the primary key was named. */
function viewInPlace({ display }: Place['url'], { details, cause }: { details: string[]; cause: SqlError }): UserError {
  const table = /.*\s'(.+)'/s.exec(cause.message)?.[1] ?? '';
  const orKey = cause.message.includes("'(null)'") ? '' : ', or it has lost its primary key';
  return new UserError('statement_refused', `A view has taken the place of table ${table} in ${display}${orKey}`, {
    details,
    hint: 'Find out who created the view: it was refused, because it would run its code with the rights of this user.',
    cause,
  });
}
