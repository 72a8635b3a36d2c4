import { redact } from '../../process/redact.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';

/** How many lines of the client are told. */
const LINES = 20;

/** An SQL file that the client could not run to its end. */
export function scriptFailed(file: string, { stderr, hint }: { stderr: string; hint: string }): UserError {
  return new UserError(`${file} failed`, {
    code: 'script_failed',
    exit: EXIT.failed,
    details: redact(stderr).trim().split('\n').slice(0, LINES),
    hint,
  });
}
