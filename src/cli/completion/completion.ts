import { splitSelector } from '../../text/snapshot-selector.ts';
import type { ArgumentSpec, Grammar, OptionSpec } from '../command.ts';
import { findCommand, isPrefix, isSnapshot, plainWords, readFlags, withSelector } from '../words.ts';

export interface Candidate {
  value: string;
  description: string;
}

/** Makes the scripts offer file names too; the description is the end of their names. */
const FILES: Candidate = { value: ':files', description: '' };
const SQL_FILES: Candidate = { value: ':files', description: '.sql' };

export interface CompletionSources {
  grammar: Grammar;
  targets: () => Promise<Candidate[]>;
  snapshots: (target: string) => Promise<Candidate[]>;
  tables: (target: string, snapshot: string | undefined) => Promise<Candidate[]>;
  saves: (target: string) => Promise<Candidate[]>;
  sensitiveKeys: () => Promise<Candidate[]>;
  providers: () => Promise<Candidate[]>;
}

export async function complete(words: string[], sources: CompletionSources): Promise<Candidate[]> {
  const current = words.at(-1) ?? '';
  const candidates = await candidatesFor(
    { before: withSelector(divided(words.slice(0, -1)), sources.grammar), current },
    sources,
  );
  const fitting = candidates.filter(({ value }) => value === FILES.value || value.startsWith(current));
  return [...new Map(fitting.toReversed().map((candidate) => [candidate.value, candidate])).values()].toReversed();
}

/** The last `--config` of the words, as in the parser. */
export function configOf(words: string[]): string | undefined {
  const before = divided(words.slice(0, -1));
  const flag = before.lastIndexOf('--config');
  return flag === -1 ? undefined : before[flag + 1];
}

/** Bash passes `--config=FILE` as three words, other shells as one. */
function divided(words: string[]): string[] {
  return words.flatMap((word) => {
    if (word === '=') return [];
    const [, flag, value] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? [];
    return flag === undefined || value === undefined ? [word] : [flag, value];
  });
}

async function candidatesFor(
  { before, current }: { before: string[]; current: string },
  sources: CompletionSources,
): Promise<Candidate[]> {
  const { grammar } = sources;
  const listed = grammar.commands.filter(({ hidden }) => !hidden);
  const found = findCommand(before, grammar);
  const spec = found?.spec;
  const given = found?.given.map((at) => before[at] ?? '') ?? [];
  const flags = [...(spec?.options ?? []), ...grammar.globalOptions].map(readFlags);
  const awaiting = flags.find(({ names, value }) => value !== null && names.includes(before.at(-1) ?? ''));
  if (awaiting?.complete === 'tables') return nextTables(current, await sources.tables(given[0] ?? '', given[1]));
  if (awaiting) return awaiting.value === 'file' ? [FILES] : [];
  if (current.startsWith('-')) {
    const given = new Set(before);
    return [...(spec?.options ?? []), ...grammar.globalOptions, HELP]
      .filter((option) => option.repeatable || !readFlags(option).names.some((name) => given.has(name)))
      .flatMap((option) => readFlags(option).names.map((value) => ({ value, description: option.description })));
  }
  const plain = plainWords(before, grammar.globalOptions).map((at) => before[at] ?? '');
  if (plain[0] === HELP_COMMAND.value) return nextWords(plain.slice(1), { ...grammar, commands: listed });
  if (!spec) {
    const next = nextWords(plain, { ...grammar, commands: listed });
    return plain.length === 0 ? [...next, HELP_COMMAND] : next;
  }
  const last = spec.arguments.at(-1);
  const argument = spec.arguments[given.length] ?? (last?.variadic ? last : undefined);
  if (!argument) return [];
  const [target = '', selector] = argument.complete === 'target' ? splitSelector(current) : given;
  if (argument.complete === 'target' && selector !== undefined && spec.arguments.some(isSnapshot)) {
    const snapshots = await sources.snapshots(target);
    return snapshots.map(({ value, description }) => ({ value: target + value, description }));
  }
  const words = given.length === 0 ? nextWords(plain, { ...grammar, commands: listed }) : [];
  const candidates = [...words, ...(await argumentCandidates(argument, { target, sources, before }))];
  // A word that was given already is not offered again where several are taken.
  return argument.variadic ? candidates.filter(({ value }) => !given.includes(value)) : candidates;
}

function nextTables(current: string, tables: Candidate[]): Candidate[] {
  const before = current.slice(0, current.lastIndexOf(',') + 1);
  const given = before.split(',');
  return tables
    .filter(({ value }) => !given.includes(value))
    .map(({ value, description }) => ({ value: before + value, description }));
}

const HELP: OptionSpec = { flags: '-h, --help', description: 'show help' };

const HELP_COMMAND: Candidate = { value: 'help', description: 'show the help of a command' };

/** Points of `tool back` that every destination may have. */
const POINTS: Candidate[] = [
  { value: 'load', description: 'the state after the last load' },
  { value: 'previous', description: 'the replaced database' },
];

async function argumentCandidates(
  argument: ArgumentSpec,
  { target, sources, before }: { target: string; before: string[]; sources: CompletionSources },
): Promise<Candidate[]> {
  switch (argument.complete) {
    case undefined:
      return (argument.choices ?? []).map((value) => ({ value, description: '' }));
    case 'target':
      return sources.targets();
    case 'snapshot':
      return sources.snapshots(target);
    case 'snapshot or file':
      return [...(await sources.snapshots(target)), SQL_FILES];
    case 'sensitive key':
      return sources.sensitiveKeys();
    case 'provider':
      return sources.providers();
    case 'point':
      return [...POINTS, ...(await sources.saves(target))];
    case 'save to remove':
      return before.includes('--remove') ? sources.saves(target) : [];
    default:
      return argument.complete satisfies never;
  }
}

function nextWords(plain: string[], { commands, families }: Pick<Grammar, 'commands' | 'families'>): Candidate[] {
  const next = new Map<string, Candidate>();
  for (const { name, summary } of commands) {
    const words = name.split(' ');
    const value = words[plain.length];
    if (value === undefined || !isPrefix(plain, words)) continue;
    const isFamily = words.length > plain.length + 1;
    next.set(value, { value, description: isFamily ? (families[value] ?? '') : summary });
  }
  return [...next.values()];
}
