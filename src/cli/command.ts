import type { Readable, Writable } from 'node:stream';
import type { Question } from '../presentation/shapes/question.ts';
import type { Context } from '../runtime/context.ts';
import type { ExitCode } from '../runtime/errors.ts';
import type { Report } from '../runtime/events.ts';
import type { Terminal } from '../runtime/terminal.ts';
import type { TableOptions } from './printers/table.ts';

/** A command as data: parser, help, completion, docs/commands.md and the types of its options derive from it. */
export interface CommandSpec {
  name: string;
  summary: string;
  group: string;
  arguments: readonly ArgumentSpec[];
  options: readonly OptionSpec[];
  examples: readonly Example[];
  /** Output of `--json`: one document, or one event per line. */
  json: 'document' | 'events';
  /** Changes databases or snapshots, always, with an option or without one, except in a dry run: refused with `--read-only`. */
  writes?: boolean | { option: string } | { unless: string };
  hidden?: boolean;
}

export interface CommandModule extends CommandSpec {
  run: (invocation: Invocation<never, never>) => Promise<CommandOutcome>;
}

export interface Grammar {
  commands: CommandModule[];
  /** Words before the last one of a command, with their description. */
  families: Record<string, string>;
  globalOptions: OptionSpec[];
  version: string;
}

export interface ArgumentSpec {
  /** The key in `Invocation.arguments`. */
  name: string;
  description: string;
  required: boolean;
  choices?: readonly string[];
  complete?: 'target' | 'snapshot' | 'snapshot or file' | 'sensitive key' | 'provider' | 'point' | 'save to remove';
  variadic?: boolean;
}

export interface OptionSpec {
  /**
   * Flags in the help: `--note <text>`, `-f, --force`, `--no-undo` (which is `undo: false`; `true` otherwise).
   */
  flags: string;
  description: string;
  /** Default: text. A percentage is a number; durations and a time (since 1970) are in milliseconds, a size in bytes. */
  value?: 'count' | 'percentage' | 'duration' | 'short duration' | 'size' | 'time';
  choices?: readonly string[];
  repeatable?: true;
  complete?: 'tables';
}

export interface Example {
  command: string;
  does: string;
}

/** A command prints nothing itself: it reports events and returns its outcome. */
export interface Invocation<Arguments = unknown, Options = unknown> {
  arguments: Arguments;
  /** By long name in camel case. */
  options: Options;
  globals: Globals;
  grammar: Grammar;
  terminal: Terminal;
  environment: NodeJS.ProcessEnv;
  cwd: string;
  /** For a secret that must not be on the command line. */
  stdin: Readable;
  /** Aborted by Ctrl-C and SIGTERM; its reason is the UserError to end with. */
  signal: AbortSignal;
  report: Report;
  /** Writes to standard output at once: what a server prints while it runs. */
  write: (text: string) => void;
  /** Standard output for a protocol: nothing is masked. */
  stdout: Writable;
  tableOptions: () => TableOptions;
  /** Loads the configuration once; throws with exit 3 when it is missing or invalid. `config` replaces `--config`. */
  context: (config?: string) => Promise<Context>;
  /** Returns after a yes; throws with exit 5 after a no, or without a terminal. */
  confirm: (question: Question) => Promise<void>;
  /** A yes is assumed, or a person can be asked. */
  canConfirm: boolean;
  /** Opens the screens; `null` without a terminal, in CI, with `--no-tui` or `--json`. */
  screens: ((place: ScreensPlace) => Promise<ExitCode>) | null;
}

/** `{ name: 'snapshot', required: false }` → `{ snapshot?: string }` */
type ArgumentsOf<Argument extends ArgumentSpec> = {
  [One in Extract<Argument, { required: true }> as One['name']]: ArgumentValue<One>;
} & {
  [One in Extract<Argument, { required: false }> as One['name']]?: ArgumentValue<One>;
};

type ArgumentValue<Argument> = Argument extends { variadic: true } ? string[] : string;

/** `--in-place` and `--no-undo` → `{ inPlace?: boolean; undo: boolean }` */
type OptionsOf<Option extends OptionSpec> = {
  [One in Extract<Option, NegatedFlags> as OptionName<One['flags']>]: boolean;
} & {
  [One in Exclude<Option, NegatedFlags> as OptionName<One['flags']>]?: OptionValue<One>;
};

interface NegatedFlags {
  flags: `--no-${string}`;
}

/** `-o, --output <file>` → `output` */
type OptionName<Flags extends string> = Flags extends `--no-${infer Name}`
  ? CamelCase<Name>
  : Flags extends `${string}--${infer Name} <${string}>`
    ? CamelCase<Name>
    : Flags extends `${string}--${infer Name}`
      ? CamelCase<Name>
      : never;

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type OptionValue<Option extends OptionSpec> = Option extends { repeatable: true }
  ? string[]
  : Option extends { value: string }
    ? number
    : Option extends { choices: readonly (infer Choice)[] }
      ? Choice
      : Option extends { flags: `${string}<${string}>` }
        ? string
        : boolean;

export interface Globals {
  config?: string;
  /** Connection URLs in place of a configured target. */
  from?: string;
  to?: string;
  json: boolean;
  tui: boolean;
  yes: boolean;
  readOnly: boolean;
  debug: boolean;
  trust: boolean;
}

export interface ScreensPlace {
  config?: string;
  environment?: NodeJS.ProcessEnv;
  setUp?: boolean;
}

export interface CommandOutcome {
  /** For `--json`: the document, or the fields of the `done` event. */
  data: object;
  /** For people, on standard output. Plain lines without a final line feed; may be empty. */
  text: string;
  /** Printed as it is, also with `--json`: a generated document, or a requested secret. */
  verbatim?: true;
  /** Contains text from outside (servers, tools, files, environment): values named like a password are masked. */
  quotes?: true;
  exit?: ExitCode;
}

interface TypedCommand<Arguments extends readonly ArgumentSpec[], Options extends readonly OptionSpec[]>
  extends Omit<CommandSpec, 'arguments' | 'options'> {
  arguments?: Arguments;
  options?: Options;
  /** Imports its operations dynamically: help and completion load none. */
  run: (invocation: Invocation<ArgumentsOf<Arguments[number]>, OptionsOf<Options[number]>>) => Promise<CommandOutcome>;
}

/** A command: its specification types the arguments and options of its run. */
export function defineCommand<
  const Arguments extends readonly ArgumentSpec[],
  const Options extends readonly OptionSpec[],
>(command: TypedCommand<Arguments, Options>): CommandModule {
  return { arguments: [], options: [], ...command };
}
