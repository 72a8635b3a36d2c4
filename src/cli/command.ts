import type { Readable } from 'node:stream';
import type { Question } from '../report/question.ts';
import type { TableOptions } from '../report/table.ts';
import type { Context } from '../runtime/context.ts';
import type { ExitCode } from '../runtime/errors.ts';
import type { Report } from '../runtime/events.ts';
import type { Terminal } from '../runtime/terminal.ts';

/** A command as data: the parser, help, completion, docs/commands.md and the types of its options derive from it. */
export interface CommandSpec {
  /** The words after `tool`: `config init`. */
  name: string;
  summary: string;
  /** The heading it is listed under. */
  group: string;
  arguments: readonly ArgumentSpec[];
  options: readonly OptionSpec[];
  examples: readonly Example[];
  /** What `--json` prints: one document, or one event a line while it works. */
  json: 'document' | 'events';
  /** Changes databases or snapshots, always or with an option, unless it is a dry run: refused with `--read-only`. */
  writes?: boolean | { option: string };
  /** Callable, but neither listed nor documented. */
  hidden?: boolean;
}

/** A specification with its run, which imports the operations that it needs: help and completion load none. */
export interface CommandModule extends CommandSpec {
  run: (invocation: Invocation<never, never>) => Promise<Outcome>;
}

/** All that the program understands. */
export interface Grammar {
  commands: CommandModule[];
  /** First words of commands of two words, with what they are about. */
  families: Record<string, string>;
  /** Flags that every command takes, at any place of the line. */
  globalOptions: OptionSpec[];
  version: string;
}

export interface ArgumentSpec {
  /** The key in `Invocation.arguments`. */
  name: string;
  description: string;
  required: boolean;
  /** The only values it takes. */
  choices?: readonly string[];
  /** What the shell offers for it. */
  complete?: 'target' | 'snapshot' | 'snapshot or file' | 'sensitive key';
  /** Takes all that is left. */
  variadic?: boolean;
}

export interface OptionSpec {
  /** As in the help: `--note <text>`, `-f, --force`, `--no-undo` (which is `undo: false`; `true` otherwise). */
  flags: string;
  description: string;
  /** What the value must be; text unless said. A percentage comes as a number, a duration in milliseconds. */
  value?: 'count' | 'percentage' | 'duration';
  /** May be given several times; the value is a list of texts. */
  repeatable?: true;
  /** What the shell offers for its value. */
  complete?: 'tables';
}

export interface Example {
  command: string;
  does: string;
}

/** All that a command is handed. It writes nothing itself: it reports events and returns what it found. */
export interface Invocation<Arguments = unknown, Options = unknown> {
  arguments: Arguments;
  /** By their long name in camel case. */
  options: Options;
  globals: Globals;
  /** Every command there is. */
  grammar: Grammar;
  terminal: Terminal;
  environment: NodeJS.ProcessEnv;
  cwd: string;
  /** For a secret that shall not stand on the command line. */
  stdin: Readable;
  /** Aborted by Ctrl-C and SIGTERM; its reason is the UserError to end with. */
  signal: AbortSignal;
  report: Report;
  /** Writes to standard output at once: what a server says while it runs. */
  write: (text: string) => void;
  /** Width and style of the texts for standard output. */
  tableOptions: () => TableOptions;
  /** Loads the configuration, once; throws with exit 3 when it is missing or wrong. A file may be named instead of `--config`'s. */
  context: (config?: string) => Promise<Context>;
  /** Returns when the answer is yes; throws with exit 5 when it is no, or when nobody can be asked. */
  confirm: (question: Question) => Promise<void>;
  /** Opens the screens; `null` where they cannot or shall not be: no terminal, CI, `--no-tui`, `--json`. */
  screens: ((place: ScreensPlace) => Promise<ExitCode>) | null;
}

/** What a command with this specification is handed. */
export type InvocationOf<Spec extends CommandSpec> = Invocation<
  ArgumentsOf<Spec['arguments'][number]>,
  OptionsOf<Spec['options'][number]>
>;

/** `{ name: 'snapshot', required: false }` → `{ snapshot?: string }` */
type ArgumentsOf<Argument extends ArgumentSpec> = {
  [One in Extract<Argument, { required: true }> as One['name']]: ArgumentValue<One>;
} & {
  [One in Extract<Argument, { required: false }> as One['name']]?: ArgumentValue<One>;
};

type ArgumentValue<Argument> = Argument extends { variadic: true } ? string[] : string;

/** `--in-place` and `--no-undo` → `{ inPlace?: boolean; undo: boolean }` */
type OptionsOf<Option extends OptionSpec> = {
  [One in Extract<Option, Negated> as OptionName<One['flags']>]: boolean;
} & {
  [One in Exclude<Option, Negated> as OptionName<One['flags']>]?: OptionValue<One>;
};

interface Negated {
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
    : Option extends { flags: `${string}<${string}>` }
      ? string
      : boolean;

export interface Globals {
  /** Path given with `--config`. */
  config?: string;
  json: boolean;
  /** `false` with `--no-tui`. */
  tui: boolean;
  yes: boolean;
  readOnly: boolean;
  debug: boolean;
  /** The configuration of the current folder is trusted from now on. */
  trust: boolean;
}

export interface ScreensPlace {
  /** Configuration file, when it is not the one given by `--config`. */
  config?: string;
  /** Variables, when they are not those of the program. */
  environment?: NodeJS.ProcessEnv;
  /** Opens the snapshots of this target instead of the list of targets. */
  target?: string;
  /** Opens the wizard for a first configuration. */
  setUp?: boolean;
}

/** What a command found or did. */
export interface Outcome {
  /** Printed by `--json`: the document, or the fields of the `done` event. */
  data: object;
  /** For people, on standard output; nothing when empty. Plain lines, no final newline. */
  text: string;
  /** The text is printed as it is, with `--json` too: a document of the program's own, or a secret that was asked for. */
  verbatim?: true;
  /** Holds words of others (servers, tools, files, the environment): what is called a password is masked in it. */
  quotes?: true;
  /** Default 0. */
  exit?: ExitCode;
}
