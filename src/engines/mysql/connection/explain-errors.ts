import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { Place } from '../../engine.ts';
import { connectionLost, statementRefused } from '../../shared/connection/explain-errors.ts';
import { ConnectionLost, SqlError } from './session-errors.ts';

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
    throw statementRefused(url, { details: [`${cause.errno}: ${cause.message}`], hint: RIGHTS_HINT, cause });
  }
}
