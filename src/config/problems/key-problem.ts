import type { Problem } from '../../results/configuration/configuration-results.ts';
import { dotted, type KeyPath } from '../tree.ts';
import type { YamlSource } from '../yaml/yaml-source.ts';

/** A problem at a key, without the file or variable that sets the key. */
export interface KeyProblem {
  path: KeyPath;
  severity?: 'error' | 'warning';
  code: string;
  /** The whole sentence, or the part after the key's name. */
  message: string | { says: string };
  hint?: string | null;
  /** Default: the value. */
  at?: 'key' | 'value';
  offset?: number;
}

export interface Origins {
  file: string | null;
  source: YamlSource | null;
  variables: Map<string, string>;
}

/** A problem with its location: file, line and column, or the variable's name. */
export function toProblem(problem: KeyProblem, origins: Origins): Problem {
  const { path, code, message, severity = 'error', hint = null, at = 'value', offset = 0 } = problem;
  const variable = variableOf(path, origins.variables);
  const source = variable === null ? origins.source : null;
  const position = source && (offset > 0 ? source.locateWithin(path, offset) : source.locate(path, at));
  const sentence =
    typeof message === 'string'
      ? `${message}${variable === null ? '' : ` (in ${variable})`}`
      : `${variable ?? dotted(path)} ${message.says}`;
  return {
    severity,
    code,
    key: dotted(path),
    message: sentence,
    hint,
    file: position ? origins.file : null,
    line: position?.line ?? null,
    column: position?.column ?? null,
  };
}

export function variableOf(path: KeyPath, variables: Map<string, string>): string | null {
  if (variables.size === 0) return null;
  for (let length = path.length; length > 0; length -= 1) {
    const name = variables.get(dotted(path.slice(0, length)));
    if (name !== undefined) return name;
  }
  return null;
}
