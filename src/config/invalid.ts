import { isAbsolute, relative } from 'node:path';
import { EXIT, UserError } from '../errors.ts';
import type { Problem } from './configuration.ts';
import { USUAL_PLACES } from './find-file.ts';

/** The error of a command that cannot run on the configuration as it is. */
export function configurationError(
  problems: Problem[],
  { file, cwd }: { file: string | null; cwd: string },
): UserError {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first, ...others] = errors;
  const missing = errors.find(({ code }) => code === MISSING);
  if (missing) return new UserError(missing.message, { code: MISSING, exit: EXIT.configuration, ...hintOf(missing) });
  const facts = { code: 'configuration_invalid', exit: EXIT.configuration };
  if (first && others.length === 0) {
    return new UserError(`The configuration is not valid: ${located(first, cwd)}`, { ...facts, ...hintOf(first) });
  }
  return new UserError(`The configuration${file === null ? '' : ` ${shown(file, cwd)}`} has ${errors.length} errors`, {
    ...facts,
    details: errors.map((problem) => [located(problem, cwd), problem.hint ?? []].flat().join('\n  ')),
    hint: 'Once corrected: tool config check',
  });
}

const MISSING = 'configuration_missing';

/** There is no file, and no variable takes its place. */
export function missingConfiguration(): Problem {
  return {
    severity: 'error',
    code: MISSING,
    key: '',
    message: `There is no configuration: no ${USUAL_PLACES.join(', no ')}, and no variable that says anything`,
    hint: 'Write one: tool config init',
    file: null,
    line: null,
    column: null,
  };
}

/** `tool.yml:3:7: message`, which editors and terminals understand. */
function located({ file, line, column, message }: Problem, cwd: string): string {
  if (file === null) return message;
  return `${[shown(file, cwd), line ?? [], column ?? []].flat().join(':')}: ${message}`;
}

/** Relative to where the tool was called, when the file is below it. */
function shown(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return path === '' || path.startsWith('..') || isAbsolute(path) ? file : path;
}

function hintOf({ hint }: Problem): { hint?: string } {
  return hint === null ? {} : { hint };
}
