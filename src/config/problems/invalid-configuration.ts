import type { Problem } from '../../results/configuration/configuration-results.ts';
import type { ErrorCode } from '../../runtime/error-codes.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { boundedLines } from '../../text/bounded-list.ts';
import { capitalized } from '../../text/format.ts';

const MOST_LISTED = 20;

/** Problems with the surroundings, not with the text. */
const SAID_ALONE = new Set(['no_configuration', 'keychain_unavailable']);

const LIST_HINT = 'List them with excerpts: tool config check';

export function invalidConfiguration(problems: Problem[], hint = LIST_HINT): UserError {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (errors.length === 1 && first && SAID_ALONE.has(first.code)) {
    const message = first.file ? `${first.file}: ${first.message}` : capitalized(first.message);
    return new UserError(first.code as ErrorCode, message, { exit: EXIT.configuration, hint: first.hint });
  }
  const details = boundedLines(errors.map(problemLine), MOST_LISTED);
  const count = errors.length === 1 ? 'a problem' : `${errors.length} problems`;
  return new UserError('configuration_invalid', `The configuration has ${count}`, { details, hint });
}

/** The error of a command that needs what one problem prevents. */
export function problemError(problem: Problem): UserError {
  const message = [placeOf(problem), problem.message].filter((part) => part !== null).join(': ');
  return new UserError(problem.code as ErrorCode, message, { exit: EXIT.configuration, hint: problem.hint });
}

/** `tool.yml:12:5`, which editors and terminals link. */
export function placeOf({ file, line, column }: Problem): string | null {
  return file === null ? null : [file, line, column].filter((part) => part !== null).join(':');
}

function problemLine(problem: Problem): string {
  const place = placeOf(problem);
  return `${place ? `${place}: ` : ''}${problem.message}${problem.hint ? `. ${problem.hint}` : ''}`;
}
