import { redact } from '../../../process/redact.ts';
import { withStep } from '../../../runtime/events.ts';
import { describeStatement, type Statement } from '../../../sanitize/statement.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { QueryRun } from '../../facets/sanitize.ts';
import { connectionLostAt, queryFailed, UNPUBLISHED } from '../../shared/sanitize/query-failed.ts';
import { queryRefused } from '../../shared/sanitize/query-refused.ts';
import { connect } from '../connection/connect.ts';
import { DENIED } from '../connection/error-numbers.ts';
import type { MysqlSession } from '../connection/session.ts';
import { ConnectionLost, SqlError } from '../connection/session-errors.ts';
import { detailsOf } from '../details.ts';
import { followModes } from '../restore/script/sql-mode.ts';
import { wordsOf } from './statements.ts';

/** Default checks, but for modes that refuse existing rows. */
export const SETTINGS = [
  "SET sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'",
];

/** Without a transaction, since DDL commits. Only the copy is affected by a failure. */
export async function runQuery(context: EngineContext, { url, manifest, statements }: QueryRun): Promise<void> {
  const { report } = context;
  const count = formatNumberOf(statements.length, 'statement');
  const step = { step: 'query', label: `Run ${count}`, done: `Ran ${count}` };
  await withStep(report, step, async () => {
    await using session = await connect(context, url);
    await assertOwnDatabaseOnly(session, statements, {
      copy: url.database ?? '',
      original: detailsOf(manifest).database,
    });
    for (const setting of SETTINGS) await session.execute(setting);
    for (const [index, statement] of statements.entries()) {
      await session.execute(statement.text).catch((error) => Promise.reject(explain(statement, error)));
      const current = describeStatement(statement);
      report({
        event: 'progress',
        step: 'query',
        done: index + 1,
        total: statements.length,
        unit: 'statements',
        current,
      });
    }
    await session.execute('COMMIT');
  });
}

const CATALOGS = new Set(['information_schema', 'performance_schema', 'sys']);

/** Table names may be qualified: `UPDATE shop.customer` would change the original on the same server. */
export async function assertOwnDatabaseOnly(
  session: MysqlSession,
  statements: Statement[],
  { copy, original }: { copy: string; original: string },
): Promise<void> {
  const rows = await session.query<{ name: string }>('SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA');
  const others = new Set([...rows.map(({ name }) => name), original].map((name) => name.toLowerCase()));
  others.delete(copy.toLowerCase());
  const modes = followModes('');
  let mode = modes.first;
  for (const statement of statements) {
    const { words, qualifiers } = wordsOf(statement.text, mode);
    mode = modes.after({ words, bytes: Buffer.from(statement.text) });
    const named = qualifiers.find((name) => others.has(name.toLowerCase()) && !CATALOGS.has(name.toLowerCase()));
    if (named === undefined) continue;
    throw queryRefused(
      `The sanitization query names the database "${named}" in ${describeStatement(statement)}`,
      `the query runs in a copy of another name, and must not touch the original: leave "${named}." out`,
    );
  }
}

/** `ER_SERVER_SHUTDOWN`, `ER_QUERY_INTERRUPTED`, `ER_CONNECTION_KILLED` */
const ENDED = new Set([1053, 1317, 1927]);
const SYNTAX_ERROR = 1064;
const WITH_BODY = /^\s*(CREATE\b[\s\S]*\b(TRIGGER|PROCEDURE|FUNCTION|EVENT)\b|BEGIN\b)/i;

function explain(statement: Statement, cause: unknown): unknown {
  if (cause instanceof ConnectionLost || (cause instanceof SqlError && ENDED.has(cause.errno))) {
    return connectionLostAt(statement, [redact(cause.message)], cause);
  }
  if (!(cause instanceof SqlError)) return cause;
  const where = redact(describeStatement(statement));
  return queryFailed({
    where,
    details: [redact(cause.message), `error ${cause.errno}`],
    ...hintFor(statement, cause),
    cause,
  });
}

function hintFor({ text }: Statement, { errno }: SqlError): { hint?: string } {
  if (DENIED.has(errno)) return { hint: RIGHTS_HINT };
  if (errno === SYNTAX_ERROR && WITH_BODY.test(text)) {
    return { hint: `${UNPUBLISHED} A body with semicolons of its own needs DELIMITER before it.` };
  }
  return {};
}

const RIGHTS_HINT =
  'Nothing was published. The query has rights on its database only: if it needs more, and you trust query and snapshot, add --allow-superuser.';
