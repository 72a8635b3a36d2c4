import { EXIT, UserError } from '../../../runtime/errors.ts';
import { describeStatement, type Statement } from '../../../sanitize/statement.ts';

export function queryRefused(message: string, why: string): UserError {
  const hint = `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
  return new UserError(message, { code: 'query_refused', exit: EXIT.configuration, hint });
}

export function statementRefused(statement: Statement, why: string): UserError {
  return queryRefused(`The sanitization query cannot hold ${describeStatement(statement)}`, why);
}

export function clientCommand(query: string, at: number, { client, why }: { client: string; why: string }): UserError {
  const line = lineAt(query, at);
  const text = query.split('\n')[line - 1]?.trim();
  return queryRefused(`In line ${line} the sanitization query holds a command of ${client}, not SQL: ${text}`, why);
}

export function unterminated(query: string, at: number, what: string): UserError {
  const line = lineAt(query, at);
  return queryRefused(`A ${what} that begins in line ${line} of the sanitization query never ends`, 'close it');
}

export function lineAt(query: string, position: number): number {
  return query.slice(0, position).split('\n').length;
}
