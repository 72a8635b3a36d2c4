import type { Readable, Writable } from 'node:stream';
import type { Context, ContextOptions } from '../runtime/context.ts';
import type { ExitCode } from '../runtime/errors.ts';
import type { Terminal } from '../runtime/terminal.ts';
import type { Grammar, ScreensPlace } from './command.ts';

export interface CommandHost {
  words: string[];
  /** The screens open without it. */
  loadGrammar: () => Promise<Grammar>;
  terminal: Terminal;
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
  environment: NodeJS.ProcessEnv;
  cwd: string;
  signal: AbortSignal;
  clock: () => Date;
  /** Returns the errors of failed promises that are not awaited. Default: none. */
  failedUnawaited?: () => unknown[];
  openContext: (options: ContextOptions) => Promise<Context>;
  openScreens: (options: ScreensOptions) => Promise<ExitCode>;
}

export interface ScreensOptions extends ScreensPlace {
  environment: NodeJS.ProcessEnv;
  cwd: string;
  signal: AbortSignal;
  readOnly: boolean;
  debug: boolean;
  trust: boolean;
}
