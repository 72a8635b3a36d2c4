import type { Problem } from './configuration.ts';
import type { Parsed } from './parse.ts';
import { dotted, type KeyPath } from './tree.ts';

/** What a check has found at a key; where that key comes from is not its business. */
export interface Finding {
  path: KeyPath;
  /** Default `error`. */
  severity?: 'error' | 'warning';
  code: string;
  /** The whole sentence, or what follows the key's name. */
  message: string | { says: string };
  hint: string | null;
  /** Whether the key or the value is to be looked at; default the value. */
  at?: 'key' | 'value';
}

/** Where the values of a configuration come from. */
export interface Origins {
  /** `null` when variables alone configure the tool. */
  file: { path: string; locate: Parsed['locate'] } | null;
  /** Names of variables by the dotted key that they set. */
  variables: Map<string, string>;
}

/** A finding with its place: file, line and column, or the variable's name. */
export function toProblem(finding: Finding, { file, variables }: Origins): Problem {
  const { path, code, message, severity = 'error', hint, at = 'value' } = finding;
  const key = dotted(path);
  const variable = variableOf(path, variables);
  const position = variable === null && file ? file.locate(path, at) : null;
  const suffix = variable === null ? '' : ` (in ${variable})`;
  return {
    severity,
    code,
    key,
    message: typeof message === 'string' ? message + suffix : `${variable ?? key} ${message.says}`,
    hint,
    file: position && file ? file.path : null,
    line: position?.line ?? null,
    column: position?.column ?? null,
  };
}

/** The variable that set the value at a path, or something around it. */
export function variableOf(path: KeyPath, variables: Map<string, string>): string | null {
  for (let length = path.length; length > 0 && variables.size > 0; length -= 1) {
    const name = variables.get(dotted(path.slice(0, length)));
    if (name !== undefined) return name;
  }
  return null;
}
