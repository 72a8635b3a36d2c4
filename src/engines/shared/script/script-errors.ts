import { redact } from '../../../process/redact.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { ScriptProblem } from './script-problem.ts';
import type { ScriptPosition } from './text-window.ts';

/** The error of a file that is refused before anything of it runs. */
export function scriptRefused(file: string, { message, position, hint }: ScriptProblem): UserError {
  return new UserError('script_refused', `${file}:${position.line}:${position.column}: ${message}`, { hint });
}

const MOST_LINES = 20;
const MOST_CHARACTERS = 4000;

export interface ScriptFailure {
  /** The statement that failed, if it is known. */
  statement: (ScriptPosition & { number: number }) | null;
  message: string;
  hint: string;
  cause?: unknown;
}

export function scriptFailed(file: string, { statement, message, hint, cause }: ScriptFailure): UserError {
  const where = statement
    ? `${file}:${statement.line}:${statement.column}: statement ${statement.number} failed`
    : `${file} failed`;
  return new UserError('script_failed', where, {
    details: redact(message.slice(0, MOST_CHARACTERS)).trim().split('\n').slice(0, MOST_LINES),
    hint,
    cause,
  });
}

/** A statement left the session in another database than the confirmed one. */
export function scriptLeft(file: string, { statement, database }: { statement: ScriptPosition; database: string }) {
  return new UserError(
    'script_left',
    `${file}:${statement.line}:${statement.column}: the statement left the database "${database}"`,
    { hint: 'Remove the statement: a load runs on the confirmed database only. Nothing behind it was run.' },
  );
}
