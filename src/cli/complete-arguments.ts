import type { Context } from '../runtime/context.ts';
import { UserError } from '../runtime/errors.ts';
import { boundedList } from '../text/bounded-list.ts';
import { nearest } from '../text/nearest.ts';
import type { ArgumentSpec, CommandSpec } from './command.ts';

interface CommandWords {
  spec: CommandSpec;
  arguments: Record<string, unknown>;
  /** The error of a line without all required arguments. */
  lacking?: UserError;
}

const MOST_LISTED = 10;

export function needsTarget({ spec }: Pick<CommandWords, 'spec'>): boolean {
  return spec.arguments.some(isRequiredTarget);
}

/**
 * The only target of a configuration is meant where the line names none. Throws the error of a line that still lacks an
 * argument.
 */
export function completeArguments(
  line: CommandWords,
  { configuration }: Pick<Context, 'configuration'>,
  words: string[],
): void {
  const { spec, arguments: given, lacking } = line;
  const { settings, cloud } = configuration;
  // A hub may know others.
  const targets = cloud ? [] : Object.keys(settings.targets);
  line.arguments = withOnlyTarget(line, { targets, words }) ?? given;
  const missing = spec.arguments.find((one) => one.required && !hasWords(line.arguments[one.name]));
  if (lacking && missing) {
    const known =
      isRequiredTarget(missing) && targets.length > 0 ? `Targets: ${boundedList(targets, MOST_LISTED)}. ` : '';
    throw new UserError(lacking.code, `Missing required argument '${missing.name}'`, {
      hint: `${known}${lacking.hint}`,
    });
  }
}

/** `load 1` is `load shop 1`. A word that resembles the target's name is a mistake. */
function withOnlyTarget(
  { spec, arguments: given }: CommandWords,
  { targets, words: line }: { targets: string[]; words: string[] },
): Record<string, unknown> | null {
  const [only, ...others] = targets;
  const [target, ...rest] = spec.arguments;
  if (!target || !isRequiredTarget(target) || only === undefined || others.length > 0) return null;
  const named = given[target.name];
  if (named === only || named === '' || (typeof named === 'string' && nearest(named, [only]) !== null)) return null;
  // `branch drop a b` would drop two branches instead of one.
  if (rest.some(({ name, required, variadic }) => required && variadic && hasWords(given[name]))) return null;
  // `rehearse prod` would run a program of this name: one is after --.
  const [next] = rest;
  const isAfterDashes = line.includes('--') && line[line.indexOf('--') + 1] === named;
  if (next?.variadic && !next.required && named !== undefined && !isAfterDashes) return null;
  const words = spec.arguments.flatMap(({ name }) => given[name] ?? []);
  const shifted = rest.map(({ name, variadic }) => [name, variadic ? words.splice(0) : words.shift()] as const);
  if (words.length > 0) return null;
  return Object.fromEntries([[target.name, only] as const, ...shifted].filter(([, value]) => hasWords(value)));
}

function hasWords(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
}

function isRequiredTarget({ complete, required }: ArgumentSpec): boolean {
  return complete === 'target' && required;
}

export function targetOf({ spec, arguments: given }: Pick<CommandWords, 'spec' | 'arguments'>): string | undefined {
  const argument = spec.arguments.find(({ complete }) => complete === 'target');
  const name = argument && given[argument.name];
  return typeof name === 'string' ? name : undefined;
}
