import { PassThrough, Writable } from 'node:stream';
import type { CommandModule } from '../../../src/cli/command.ts';
import type { CommandHost } from '../../../src/cli/host.ts';
import { run } from '../../../src/cli/run.ts';
import { COMMANDS, GLOBAL_OPTIONS } from '../../../src/commands/registry.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { EXIT, UserError } from '../../../src/runtime/errors.ts';
import type { Terminal } from '../../../src/runtime/terminal.ts';
import { assertDocumented } from '../documents/json-contract.ts';

/** A terminal that is none: what a script sees. */
export const PIPED: Terminal = {
  noScreens: 'standard input is not a terminal',
  canAsk: false,
  stdout: { isTerminal: false, color: false, columns: () => null },
  stderr: { isTerminal: false, color: false, columns: () => null },
  colors: 0,
  unicode: true,
  ci: false,
};

/** A terminal with a person at it. */
export const ATTENDED: Terminal = {
  ...PIPED,
  noScreens: null,
  canAsk: true,
  stdout: { isTerminal: true, color: false, columns: () => 80 },
  stderr: { isTerminal: true, color: false, columns: () => 80 },
};

export interface TestedRun {
  exit: number;
  stdout: string;
  stderr: string;
  /** What was asked of the screens. */
  opened: object[];
}

/** Runs the command line within this process, on commands of the test's own. */
export async function runWith(
  words: string[],
  commands: CommandModule[],
  change: Partial<CommandHost> = {},
): Promise<TestedRun> {
  const stdout = new Sink();
  const stderr = new Sink();
  const opened: object[] = [];
  const exit = await run({
    words,
    loadGrammar: async () => ({
      ...{ commands, families: { config: 'configuration' }, globalOptions: GLOBAL_OPTIONS, version: '1.2.3' },
    }),
    terminal: PIPED,
    stdin: new PassThrough(),
    stdout,
    stderr,
    environment: {},
    cwd: '/',
    signal: new AbortController().signal,
    clock: () => new Date(0),
    openContext: noConfiguration,
    openScreens: async ({ config, setUp, readOnly }) => {
      opened.push({ config, setUp, readOnly });
      return EXIT.done;
    },
    ...change,
  });
  if (commands === COMMANDS) assertDocumented(words, stdout.text);
  return { exit, stdout: stdout.text, stderr: stderr.text, opened };
}

/** A command that does what the test says. */
export function command(run: CommandModule['run'], change: Partial<CommandModule> = {}): CommandModule {
  return {
    name: 'work',
    summary: 'work',
    group: 'Test',
    arguments: [],
    options: [],
    examples: [],
    json: 'events',
    run,
    ...change,
  };
}

/** A stream that keeps what is written. */
export class Sink extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

async function noConfiguration(): Promise<Context> {
  throw new UserError('no_configuration', 'No configuration found');
}
