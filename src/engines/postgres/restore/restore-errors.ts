import { redact } from '../../../process/redact.ts';
import type { ProcessResult } from '../../../process/runner.ts';

/** Most causes in a message, and most characters of the SQL that failed. */
const CAUSES = 10;
const SQL_LENGTH = 300;

/** SQL that fails without harm: settings of a newer pg_restore that an older server does not know. */
const HARMLESS = /^SET (transaction_timeout|default_table_access_method|idle_session_timeout)\b/;

interface Failure {
  cause: string;
  sql: string;
}

type ExitResult = Pick<ProcessResult, 'exitCode' | 'stderr'>;

/** Exit code of pg_restore when it went on after errors. */
const WITH_ERRORS = 1;

/** Returns the errors of pg_restore; empty when it succeeded, or when each of its errors is known to be harmless. */
export function restoreErrors(ended: ExitResult): string[] {
  if (ended.exitCode === 0) return [];
  const errors = groupErrors(ended.stderr);
  if (errors.length > 0) return errors;
  return ended.exitCode === WITH_ERRORS && toldAll(ended.stderr) ? [] : failureWords('pg_restore', ended);
}

/** Reports whether pg_restore came to its end after errors. Several jobs count an error more than once. */
export function wentOn({ exitCode, stderr }: ExitResult): boolean {
  return exitCode === WITH_ERRORS && countedErrors(stderr) > 0;
}

/** Reports whether pg_restore came to its end, and each error that it counted was read. */
function toldAll(stderr: string): boolean {
  const counted = countedErrors(stderr);
  return counted > 0 && parseFailures(stderr).length >= counted;
}

function countedErrors(stderr: string): number {
  return Number(/^pg_restore: warning: errors ignored on restore: (\d+)\s*$/m.exec(stderr)?.[1] ?? 0);
}

/** psql's exit code for a connection that went bad: https://www.postgresql.org/docs/current/app-psql.html */
const BAD_CONNECTION = 2;

export function isConnectionLost({ exitCode }: ExitResult): boolean {
  return exitCode === BAD_CONNECTION;
}

/** Returns the output of a program that failed, or how it ended. */
export function failureWords(program: string, { exitCode, stderr }: ExitResult): string[] {
  const words = redact(stderr)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const end = exitCode === null ? 'was killed by a signal' : `ended with exit code ${exitCode}`;
  return words.length > 0 && exitCode !== null ? words : [...words, `${program} ${end}`];
}

/** The errors of pg_restore, one line a cause with the first SQL that failed of it; empty when all were harmless. */
export function groupErrors(stderr: string): string[] {
  const failures = parseFailures(stderr).filter(({ sql }) => !HARMLESS.test(sql));
  const causes = new Map<string, Failure[]>();
  for (const failure of failures) causes.set(failure.cause, [...(causes.get(failure.cause) ?? []), failure]);
  const lines = [...causes].slice(0, CAUSES).flatMap(([cause, same]) => {
    const times = same.length > 1 ? ` (${same.length} times)` : '';
    const sql = same[0]?.sql ?? '';
    return [`${redact(cause)}${times}`, ...(sql === '' ? [] : [`  ${shorten(redact(sql))}`])];
  });
  const more = causes.size - CAUSES;
  return more > 0 ? [...lines, `and ${more} more causes`] : lines;
}

/**
 * `pg_restore: error: could not execute query: ERROR:  <cause>`, lines of the server's context, then
 * `Command was: <SQL>`, which may run over several lines.
 */
function parseFailures(stderr: string): Failure[] {
  const failures: Failure[] = [];
  let inSql = false;
  for (const line of stderr.split('\n')) {
    const error = /^pg_restore: (?:\[[^\]]*\] )?(?:error|fatal): (.*)$/.exec(line)?.[1];
    const sql = /^Command was: (.*)$/.exec(line)?.[1];
    const last = failures.at(-1);
    if (error !== undefined) {
      failures.push({ cause: error.replace(/^could not execute query: /, ''), sql: '' });
      inSql = false;
    } else if (/^pg_restore: /.test(line)) {
      inSql = false;
    } else if (last && sql !== undefined) {
      last.sql = sql;
      inSql = true;
    } else if (last && inSql) {
      last.sql += ` ${line.trim()}`;
    } else if (last && line.trim() !== '') {
      last.cause += ` | ${line.trim()}`;
    }
  }
  return failures;
}

function shorten(sql: string): string {
  const line = sql.replaceAll(/\s+/g, ' ').trim();
  return line.length > SQL_LENGTH ? `${line.slice(0, SQL_LENGTH)}…` : line;
}
