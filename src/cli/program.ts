import { Argument, Command, type CommanderError, InvalidArgumentError, Option } from 'commander';
import type { UserError } from '../runtime/errors.ts';
import { parseDuration } from '../text/duration.ts';
import { capitalized } from '../text/format.ts';
import { parseSize } from '../text/size.ts';
import { wrapWords } from '../text/wrap-words.ts';
import type { ArgumentSpec, CommandModule, CommandSpec, Globals, Grammar, OptionSpec } from './command.ts';
import { usageError } from './usage-error.ts';
import { hasOwnFrom, usageOf, withSelector } from './words.ts';

export type ParsedLine =
  | {
      kind: 'command';
      spec: CommandModule;
      arguments: Record<string, unknown>;
      options: object;
      globals: Globals;
      /** The error of a line without all required arguments. */
      lacking?: UserError;
    }
  | { kind: 'text'; text: string }
  | { kind: 'incomplete'; alone: boolean; help: string; globals: Globals };

export interface ParseOptions {
  grammar: Grammar;
  /** Width of the help; `null` without a terminal. */
  columns: number | null;
  /** Required arguments may be left out. */
  mayLackArguments?: boolean;
}

/** Parses the words after `tool`; throws a UserError with exit 2 for invalid ones. */
export function parseLine(words: string[], options: ParseOptions): ParsedLine {
  const written: string[] = [];
  const matches: ParsedLine[] = [];
  const program = createProgram(options, { written, matches });
  try {
    program.parse(withSelector(words, options.grammar), { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof Left)) throw thrown;
    const { error, command } = thrown;
    if (error.code === 'commander.help' && error.exitCode !== 0) {
      return { kind: 'incomplete', alone: command === program, help: written.join(''), globals: globalsOf(program) };
    }
    if (error.exitCode !== 0) throw usageError(error, command);
  }
  return matches[0] ?? { kind: 'text', text: written.join('') };
}

function createProgram({ grammar, columns, mayLackArguments = false }: ParseOptions, into: Sink): Command {
  const width = () => columns ?? DEFAULT_WIDTH;
  const program = new Command('tool')
    .description('Snapshot a database, and restore it in seconds. Without a command, open the screens.')
    .helpOption('-h, --help', 'show help')
    .commandsGroup('Help:')
    .helpCommand('help [command]', 'show the help of a command')
    .configureHelp({
      showGlobalOptions: true,
      minWidthToWrap: LEAST_TEXT,
      styleUsage: (usage) => wrapWords(usage, width() - 'Usage: '.length).join('\n       '),
      formatItem: (term, termWidth, text) => itemLines({ term, termWidth, text, width: width() }),
    })
    .configureOutput({
      writeOut: (text) => into.written.push(text),
      writeErr: (text) => into.written.push(text),
      outputError: () => {},
      getOutHelpWidth: width,
      getErrHelpWidth: width,
    })
    .version(grammar.version, '-V, --version', 'print the version');
  throwInsteadOfExit(program);
  for (const option of grammar.globalOptions) program.addOption(toOption(option));
  const commands = grammar.commands.map((spec) => ({
    spec,
    command: addCommand(program, { spec, families: grammar.families, into, width, mayLackArguments }),
  }));
  for (const { spec, command } of commands) {
    const flags = command.commands.length > 0 ? ['[options]', '[command]'] : ['[options]'];
    command.usage([...flags, ...usageOf(spec)].join(' '));
  }
  return program;
}

const DEFAULT_WIDTH = 80;

interface Sink {
  written: string[];
  matches: ParsedLine[];
}

/** Thrown to leave the parser, which would otherwise end the process. */
class Left extends Error {
  readonly error: CommanderError;
  readonly command: Command;

  constructor(error: CommanderError, command: Command) {
    super(error.message);
    this.error = error;
    this.command = command;
  }
}

function throwInsteadOfExit(command: Command): void {
  command.exitOverride((error) => {
    throw new Left(error, command);
  });
}

interface Addition {
  spec: CommandModule;
  families: Record<string, string>;
  into: Sink;
  width: () => number;
  mayLackArguments: boolean;
}

function addCommand(program: Command, addition: Addition): Command {
  const { spec, into, width, mayLackArguments } = addition;
  const words = spec.name.split(' ');
  const parent = words.slice(0, -1).reduce((above, word) => familyOf(above, word, addition), program);
  const command = parent
    .command(words.at(-1) as string, { hidden: spec.hidden ?? false })
    .summary(spec.summary)
    .description(`${capitalized(spec.summary)}.`)
    .helpGroup(`${spec.group}:`)
    .addHelpText('after', () => examplesText(spec, width()));
  throwInsteadOfExit(command);
  for (const argument of spec.arguments) {
    command.addArgument(toArgument({ ...argument, required: argument.required && !mayLackArguments }));
  }
  for (const option of spec.options) command.addOption(toOption(option));
  command.action(() => {
    const { from, ...globals } = globalsOf(program);
    // The parser gives an option of both to the program.
    const isOwn = hasOwnFrom(spec);
    const named = spec.arguments.map(({ name }, index) => [name, command.processedArgs[index]] as const);
    into.matches.push({
      kind: 'command',
      spec,
      arguments: Object.fromEntries(named.filter(([, value]) => value !== undefined)),
      options: { ...command.opts(), ...(isOwn && from !== undefined && { from }) },
      globals: { ...globals, ...(!isOwn && from !== undefined && { from }) },
    });
  });
  return command;
}

function familyOf(parent: Command, word: string, { spec, families }: Addition): Command {
  const known = parent.commands.find((command) => command.name() === word);
  // Flags behind the second word are its own, also where the first word is a command itself.
  if (known) return known.helpCommand(false).enablePositionalOptions();
  const about = families[word] ?? '';
  const family = parent
    .command(word)
    .summary(about)
    .description(`${capitalized(about)}.`)
    .helpGroup(`${spec.group}:`)
    .helpCommand(false);
  throwInsteadOfExit(family);
  return family;
}

function globalsOf(program: Command): Globals {
  const given = program.opts<Partial<Globals>>();
  const { json = false, tui = true, yes = false, readOnly = false, debug = false, trust = false } = given;
  return { ...given, json, tui, yes, readOnly, debug, trust };
}

function toArgument({ name, description, required, variadic, choices }: ArgumentSpec): Argument {
  const inner = variadic ? `${name}...` : name;
  const argument = new Argument(required ? `<${inner}>` : `[${inner}]`, description);
  return choices ? argument.choices(choices) : argument;
}

function toOption({ flags, description, value, choices, repeatable }: OptionSpec): Option {
  const option = new Option(flags, description);
  if (choices) return option.choices(choices);
  if (repeatable) return option.argParser((text: string, before: string[] = []) => [...before, text]);
  return value ? option.argParser(VALUES[value]) : option;
}

const VALUES: Record<NonNullable<OptionSpec['value']>, (text: string) => number> = {
  count(text) {
    const count = Number(text);
    if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('It must be a whole number above 0.');
    return count;
  },
  percentage(text) {
    const percent = Number(text.replace(/%$/, ''));
    if (!(percent > 0 && percent <= 100)) throw new InvalidArgumentError('It must be above 0% and at most 100%.');
    return percent;
  },
  duration(text) {
    const duration = parseDuration(text);
    if (duration === null) throw new InvalidArgumentError('It must be such as 12h, 30d, 8w, 6m or 1y.');
    return duration;
  },
  'short duration'(text) {
    const [, amount, unit = ''] = /^(\d{1,6})(ms|s|min)$/.exec(text) ?? [];
    if (!amount) throw new InvalidArgumentError('It must be such as 500ms, 2s or 1min.');
    return Number(amount) * ({ ms: 1, s: 1000 }[unit] ?? 60_000);
  },
  size(text) {
    const size = parseSize(text);
    if (size === null) throw new InvalidArgumentError('It must be such as 500MB or 5GB.');
    return size;
  },
  time(text) {
    if (/^\d+[hdwmy]$/.test(text)) return Date.now() - VALUES.duration(text);
    const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z)?$/.test(text);
    const time = isTime ? Date.parse(text) : Number.NaN;
    if (Number.isNaN(time)) {
      throw new InvalidArgumentError('It must be such as 2026-01-31, 2026-01-31T14:00Z, or 7d for seven days ago.');
    }
    return time;
  },
};

function examplesText({ examples }: CommandSpec, width: number): string {
  if (examples.length === 0) return '';
  const termWidth = Math.max(...examples.map(({ command }) => command.length));
  const lines = examples.map(({ command, does }) => itemLines({ term: command, termWidth, text: does, width }));
  return ['', 'Examples:', ...lines].join('\n');
}

interface Item {
  term: string;
  termWidth: number;
  text: string;
  width: number;
}

/** Cells of a description, at least; with less beside its term it stands below it. */
const LEAST_TEXT = 30;

/** A term and its description, wrapped at words. */
function itemLines({ term, termWidth, text, width }: Item): string {
  const column = 2 + termWidth + 2;
  if (width - column < LEAST_TEXT) {
    const terms = wrapWords(term, width - 2).map((line) => `  ${line}`);
    return [...terms, ...(text === '' ? [] : wrapWords(text, width - 6).map((line) => `      ${line}`))].join('\n');
  }
  const [first = '', ...rest] = wrapWords(text, width - column);
  const lines = [`  ${term.padEnd(termWidth)}  ${first}`.trimEnd()];
  return [...lines, ...rest.map((line) => ' '.repeat(column) + line)].join('\n');
}
