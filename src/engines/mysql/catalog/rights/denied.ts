import { UserError } from '../../../../runtime/errors.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import { DENIED } from '../../connection/error-numbers.ts';
import { quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { tablesOf } from '../tables.ts';
import { grantOnDatabase, grantText, readRights } from './rights.ts';

/** An error with the tables and the GRANT for a refused read; any other error unchanged. */
export async function explainDenied(session: MysqlSession, url: DatabaseUrl, error: unknown): Promise<never> {
  const cause = error instanceof UserError ? error.cause : error;
  if (cause instanceof SqlError && DENIED.has(cause.errno)) return assertNotDenied(session, url, cause.message);
  throw error;
}

export async function assertNotDenied(
  session: MysqlSession,
  { database, display }: DatabaseUrl,
  why: string,
): Promise<never> {
  const own = database ?? '';
  const rights = await readRights(session);
  const tables = await tablesOf(session, own);
  const lacking = tables.filter((name) => !rights.onTable(own, name, 'SELECT'));
  const isWhole = lacking.length === 0 || lacking.length === tables.length || lacking.length > MOST_GRANTS;
  const grants = isWhole
    ? [grantOnDatabase(own, 'SELECT', rights)]
    : lacking.map((name) => grantText(['SELECT'], quotePath(own, name), rights));
  const what = lacking.length === 0 ? 'A table' : formatNumberOf(lacking.length, 'table');
  throw new UserError('dump_failed', `${what} of ${display} cannot be read`, {
    details: [why, ...lacking.slice(0, MOST_LISTED).map((name) => `not readable: table ${name}`)],
    hint: `Nothing was stored. Let an administrator run on the source: ${grants.join('; ')}`,
  });
}

const MOST_GRANTS = 5;

const MOST_LISTED = 20;
