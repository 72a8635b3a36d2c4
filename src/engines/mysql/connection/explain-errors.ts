import type { Place } from '../../engine.ts';
import { connectionLost, statementRefused } from '../../shared/connection/explain-errors.ts';
import { ConnectionLost, SqlError } from './session-errors.ts';

const RIGHTS_HINT =
  'The user probably lacks a privilege: GRANT it, or use another user. docs/mysql.md lists those that are needed.';

export async function withExplainedErrors<Result>({ url }: Place, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ConnectionLost) throw connectionLost(url, { details: [cause.message], cause });
    if (!(cause instanceof SqlError)) throw cause;
    throw statementRefused(url, { details: [`${cause.errno}: ${cause.message}`], hint: RIGHTS_HINT, cause });
  }
}
