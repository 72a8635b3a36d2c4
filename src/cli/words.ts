import { splitSelector } from '../text/snapshot-selector.ts';
import type { ArgumentSpec, CommandModule, CommandSpec, Grammar, OptionSpec } from './command.ts';

export interface FoundCommand {
  spec: CommandModule;
  /** Positions of its arguments among the words. */
  given: number[];
}

/** Splits the word that names a target and a snapshot: `load app@main` is `load app @main`. */
export function withSelector(words: string[], grammar: Grammar): string[] {
  const { spec, given } = findCommand(words, grammar) ?? {};
  const at = given?.[spec?.arguments.findIndex(({ complete }) => complete === 'target') ?? 0];
  if (at === undefined || !spec?.arguments.some(isSnapshot)) return words;
  return words.toSpliced(at, 1, ...splitSelector(words[at] ?? ''));
}

/** Names the target of `--from` where the command has its target: `load --from URL` is `load shop-db.example.com --from URL`. */
export async function withUrlTarget(
  words: string[],
  { grammar, environment }: { grammar: Grammar; environment: NodeJS.ProcessEnv },
): Promise<string[]> {
  // What follows is of another program: rehearse TARGET -- flyway --to 5.
  const end = words.indexOf('--');
  const own = end === -1 ? words : words.slice(0, end);
  const [from, to] = [optionValue(own, '--from'), optionValue(own, '--to')];
  if ((from === undefined && to === undefined) || own.includes('--help')) return words;
  const { spec, given } = findCommand(words, grammar) ?? {};
  if (spec && hasOwnFrom(spec)) return words;
  const { urlTarget } = await import('../config/urls/url-target.ts');
  const { name } = urlTarget({ from, to }, environment);
  const at = spec?.arguments.findIndex(({ complete }) => complete === 'target') ?? -1;
  return at === -1 ? words : words.toSpliced(given?.[at] ?? words.length, 0, name);
}

/** Reports whether `--from` is an option of the command itself: `branch create --from BRANCH`. */
export function hasOwnFrom({ options }: CommandModule): boolean {
  return options.some((option) => readFlags(option).names.includes('--from'));
}

function optionValue(words: string[], flag: string): string | undefined {
  const at = words.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`));
  return words[at] === flag ? words[at + 1] : words[at]?.slice(flag.length + 1);
}

export function isSnapshot({ complete }: ArgumentSpec): boolean {
  return complete?.startsWith('snapshot') ?? false;
}

/** `[target]`, `<name>`, `[names...]`: brackets where a line may lack the argument. */
export function usageOf({ arguments: all }: CommandSpec): string[] {
  // Of several words the first one would be the target: `branch drop a b`.
  const needsTarget = all.some(({ required, variadic }) => required && variadic);
  return all.map(({ name, required, complete, variadic }) => {
    const inner = variadic ? `${name}...` : name;
    return required && (complete !== 'target' || needsTarget) ? `<${inner}>` : `[${inner}]`;
  });
}

export function findCommand(words: string[], { commands, globalOptions }: Grammar): FoundCommand | undefined {
  const named = plainWords(words, globalOptions).map((at) => words[at] ?? '');
  const found = commands.filter(({ name, hidden }) => !hidden && isPrefix(name.split(' '), named));
  // The longest name: `sanitize check` before `sanitize`.
  const [spec] = found.toSorted((a, b) => b.name.length - a.name.length);
  if (!spec) return;
  const plain = plainWords(words, [...spec.options, ...globalOptions]);
  return { spec, given: plain.slice(spec.name.split(' ').length) };
}

/** Positions of the words that are neither options nor their values. */
export function plainWords(words: string[], options: readonly OptionSpec[]): number[] {
  const flags = options.map(readFlags);
  return [...words.keys()].filter((at) => {
    if (words[at]?.startsWith('-')) return false;
    const previous = words[at - 1] ?? '';
    return !flags.some(({ names, value }) => value !== null && names.includes(previous));
  });
}

interface Flags extends Pick<OptionSpec, 'complete'> {
  names: string[];
  /** `file` of `--config <file>`; `null` for a flag without a value. */
  value: string | null;
}

export function readFlags({ flags, complete }: OptionSpec): Flags {
  return {
    names: flags.match(/(?<=^|[ ,])--?[\w-]+/g) ?? [],
    value: flags.match(/<(.+)>/)?.[1] ?? null,
    ...(complete && { complete }),
  };
}

export function isPrefix(short: string[], long: string[]): boolean {
  return short.every((word, index) => word === long[index]);
}
