import { redact } from '../../../process/redact.ts';
import { describeStatement, type Statement } from '../../../sanitize/statement.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { QueryRun } from '../../facets/sanitize.ts';
import { connectionLostAt, queryFailed, UNPUBLISHED } from '../../shared/sanitize/query-failed.ts';
import { withQueryStep } from '../../shared/sanitize/steps.ts';
import { dropUserMappings } from '../catalog/foreign-tables.ts';
import { connect, linesOf } from '../connection/connect.ts';
import type { PostgresSession } from '../connection/session.ts';
import { ConnectionLost, SqlError } from '../connection/session-errors.ts';
import type { SessionSettings } from '../connection/url.ts';
import { archiveDetails } from '../dump/archive.ts';

/**
 * In one transaction. Statements that refuse one (VACUUM, a procedure with COMMIT) are detected by SQLSTATE and run
 * after it, in order.
 */
export async function runQuery(context: EngineContext, { url, manifest, statements }: QueryRun): Promise<void> {
  await withQueryStep(context, statements, async (onRun) => {
    await using session = await connect(context, url, { settings: querySettings(archiveDetails(manifest).settings) });
    await dropUserMappings(session);
    const refusing: Statement[] = [];
    await session.execute('BEGIN');
    for (const statement of statements) {
      if (await runWithin(session, statement)) onRun(statement);
      else refusing.push(statement);
    }
    await session.execute('COMMIT').catch((error) => Promise.reject(commitFailed(error)));
    for (const statement of refusing) {
      await session.executeForeign(statement.text).catch((error) => Promise.reject(explain(statement, error)));
      onRun(statement);
    }
  });
}

/**
 * Returns settings as in the user's own psql: the search path of the database, no time limits. Hidden rows (row-level
 * security) are an error, since they would keep their values.
 */
function querySettings(ofDatabase: string[]): SessionSettings {
  const path = ofDatabase.find((setting) => setting.startsWith('search_path='));
  return {
    search_path: path?.slice('search_path='.length) ?? '"$user", public',
    standard_conforming_strings: 'on',
    row_security: 'off',
    statement_timeout: '0',
    lock_timeout: '0',
    idle_in_transaction_session_timeout: '0',
  };
}

const REFUSES_TRANSACTION = new Set(['25001', '2D000']);

/** `false` when the statement refuses a transaction, without any effect. */
async function runWithin(session: PostgresSession, statement: Statement): Promise<boolean> {
  try {
    // Not released: that would also end savepoints of the query.
    await session.execute('SAVEPOINT before_statement');
    await session.executeForeign(statement.text);
    return true;
  } catch (error) {
    if (!(error instanceof SqlError && REFUSES_TRANSACTION.has(error.sqlstate))) throw explain(statement, error);
    await session.execute('ROLLBACK TO SAVEPOINT before_statement');
    return false;
  }
}

function explain(statement: Statement, cause: unknown): unknown {
  if (cause instanceof ConnectionLost) return connectionLostAt(statement, linesOf(cause), cause);
  if (!(cause instanceof SqlError)) return cause;
  const where = redact(describeStatement(statement));
  const hint = cause.sqlstate === INSUFFICIENT_PRIVILEGE ? { hint: RIGHTS_HINT } : {};
  return queryFailed({ where, details: [...linesOf(cause), `SQLSTATE ${cause.sqlstate}`], ...hint, cause });
}

const INSUFFICIENT_PRIVILEGE = '42501';
const RIGHTS_HINT = `${UNPUBLISHED} The query runs as a role without superuser rights: if it needs them, and you trust query and snapshot, add --allow-superuser.`;

function commitFailed(cause: unknown): unknown {
  if (!(cause instanceof SqlError)) return cause;
  return queryFailed({
    where: 'its end, where deferred constraints are checked',
    details: [...linesOf(cause), `SQLSTATE ${cause.sqlstate}`],
    hint: `${UNPUBLISHED} Correct the query, then sanitize again.`,
    cause,
  });
}
