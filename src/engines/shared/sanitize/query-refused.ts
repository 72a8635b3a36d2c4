import { UserError } from '../../../runtime/errors.ts';
import { describeStatement, type Statement } from '../../../sanitize/statement.ts';
import { capitalized } from '../../../text/format.ts';
import { ScriptProblem } from '../script/script-problem.ts';
import { type ScriptSplitter, splitText } from '../script/split-script.ts';

export function queryRefused(message: string, why: string): UserError {
  const hint = `${capitalized(why)}.`;
  return new UserError('query_refused', message, { hint });
}

export function statementRefused(statement: Statement, why: string): UserError {
  return queryRefused(`The sanitization query cannot hold ${describeStatement(statement)}`, why);
}

export interface SplitStatement extends Statement {
  words: string[];
}

/** Splits a sanitization query; an error names the line. */
export function splitQuery(query: string, splitter: ScriptSplitter): SplitStatement[] {
  try {
    const parts = splitText(query, splitter);
    return parts.map(({ number, line, bytes, words }) => ({ number, line, text: bytes.toString('utf8'), words }));
  } catch (error) {
    if (!(error instanceof ScriptProblem)) throw error;
    const { message, position, hint } = error;
    throw queryRefused(`In line ${position.line} of the sanitization query: ${message}`, hint.replace(/\.$/, ''));
  }
}
