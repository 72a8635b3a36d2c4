import { createTheme } from '../components/theme.ts';
import { EXIT, type ExitCode, toUserError, UserError } from '../src/errors.ts';
import type { Run } from '../src/state/runs.ts';
import { knownTargets } from './known-targets.ts';
import { createModel, type Model } from './model.ts';
import { mount } from './mount.tsx';
import { type CreateContext, lazyOperations, type Operations } from './operations.ts';
import type { TerminalOutput } from './output.ts';
import { refreshSnapshots, refreshTargets } from './refresh.ts';
import { guardTerminal } from './terminal-guard.ts';

export interface StartOptions {
  /** The file given with `--config`. */
  config?: string | undefined;
  /** Opens the snapshots of this target instead of the list of targets. */
  target?: string | undefined;
  environment: NodeJS.ProcessEnv;
  cwd: string;
  /** Aborted when the program is told to end. */
  signal: AbortSignal;
  stdin: NodeJS.ReadStream;
  stdout: TerminalOutput;
  /** Whether the terminal shows marks beyond ASCII. */
  unicode: boolean;
  clock: () => Date;
  createContext: CreateContext;
  /** Switches everything off that writes. */
  readOnly?: boolean;
  /** Instead of the real ones. */
  operations?: Operations;
}

/** How long work gets to put everything back when the program is told to end. */
const GRACE_MS = 10_000;

/** Opens the screens; resolves with the exit code when the user has left them and the terminal is as it was. */
export async function start(options: StartOptions): Promise<ExitCode> {
  const { target, environment, cwd, config, stdin, stdout, signal, unicode } = options;
  requireTerminal(stdin, stdout);
  const known = knownTargets({ environment, cwd, config });
  const leaving = Promise.withResolvers<ExitCode>();
  const model = createModel({
    target,
    operations: options.operations ?? lazyOperations(options.createContext),
    terminal: {
      quit: () => leaving.resolve(exitCode(model)),
      rows: () => stdout.rows,
      copy: (text) => stdout.write(`\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`),
    },
    clock: options.clock,
    readOnly: options.readOnly ?? false,
    known: known.read(),
    remember: known.write,
  });
  const release = guardTerminal({ stdin, stdout, onCrash: leaving.reject });
  signal.addEventListener('abort', () => void endWork(model, signal).then(leaving.resolve), { once: true });
  const mounted = mount({ model, theme: createTheme({ unicode }), stdin, stdout });
  mounted.ended.catch(leaving.reject);
  // The first frame is out before anything reads a file or opens a connection.
  setImmediate(() => void look(model, target));
  try {
    return await leaving.promise;
  } finally {
    mounted.unmount();
    await mounted.ended.catch(() => {});
    release();
    for (const line of farewell(model.runs.store.getState().runs)) stdout.write(`${line}\n`);
  }
}

async function look(model: Model, target: string | undefined): Promise<void> {
  if (target !== undefined) void refreshSnapshots(model, target);
  await refreshTargets(model);
}

/** What was done, for the scrollback of the terminal: a line for each piece of work. */
export function farewell(runs: Run[]): string[] {
  return runs.flatMap(({ title, receipt, state }) => {
    if (state.status === 'done') return receipt ? [receipt.line] : [];
    return [`${title}: ${state.status}${state.error ? ` (${state.error.message})` : ''}`];
  });
}

function exitCode(model: Model): ExitCode {
  const runs = model.runs.store.getState().runs;
  return runs.at(-1)?.state.status === 'cancelled' ? EXIT.interrupted : EXIT.done;
}

async function endWork({ runs }: Model, { reason }: AbortSignal): Promise<ExitCode> {
  for (const { id } of runs.running()) runs.cancel(id, reason);
  await Promise.race([runs.settled(), new Promise((resolve) => setTimeout(resolve, GRACE_MS).unref())]);
  return toUserError(reason).exit;
}

function requireTerminal(stdin: NodeJS.ReadStream, stdout: TerminalOutput): void {
  if (stdin.isTTY && stdout.isTTY) return;
  throw new UserError('The screens need a terminal', {
    code: 'no_terminal',
    exit: EXIT.usage,
    hint: 'Every action has a command for scripts: tool --help',
  });
}
