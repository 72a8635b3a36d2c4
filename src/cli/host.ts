import type { Readable, Writable } from 'node:stream';
import type { Context, ContextOptions } from '../runtime/context.ts';
import type { ExitCode } from '../runtime/errors.ts';
import type { Terminal } from '../runtime/terminal.ts';
import type { Grammar, ScreensPlace } from './command.ts';

/** The world around the command line, handed in so that a test can be that world. */
export interface Host {
  /** The words after `tool`. */
  words: string[];
  grammar: Grammar;
  terminal: Terminal;
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
  environment: NodeJS.ProcessEnv;
  cwd: string;
  signal: AbortSignal;
  clock: () => Date;
  openContext: (options: ContextOptions) => Promise<Context>;
  openScreens: (options: ScreensOptions) => Promise<ExitCode>;
}

export interface ScreensOptions extends ScreensPlace {
  environment: NodeJS.ProcessEnv;
  cwd: string;
  signal: AbortSignal;
  /** Switches everything off that writes. */
  readOnly: boolean;
  /** Keeps a log even where the configuration asks for none. */
  debug: boolean;
  /** Trusts the configuration of the current folder without a question. */
  trust: boolean;
}
