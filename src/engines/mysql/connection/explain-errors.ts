import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { Place } from '../../engine.ts';
import { connectionLost, DISK_FULL_HINT, statementRefused } from '../../shared/connection/explain-errors.ts';
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
    const hint = DISK_FULL.has(cause.errno) ? DISK_FULL_HINT : RIGHTS_HINT;
    throw statementRefused(url, { details: [`${cause.errno}: ${cause.message}`], hint, cause });
  }
}
