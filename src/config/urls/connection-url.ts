import type { Configuration } from '../configuration.ts';
import { problemError } from '../problems/invalid-configuration.ts';

/**
 * A connection URL by its dotted key; `undefined` when it is not set. Throws when its template could not be filled in.
 */
export function connectionUrl({ settings, deferred }: Configuration, key: string): string | undefined {
  const problem = deferred.find((candidate) => candidate.key === key);
  if (problem) throw problemError(problem);
  const parts = key.split('.');
  // The part between is the target's name, which may contain dots.
  const path = parts[0] === 'targets' ? [parts[0], parts.slice(1, -2).join('.'), ...parts.slice(-2)] : parts;
  const value = path.reduce<unknown>(
    (node, part) => (node as Record<string, unknown> | undefined)?.[part ?? ''],
    settings,
  );
  return value as string | undefined;
}
