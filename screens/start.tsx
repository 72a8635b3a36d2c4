import { createTheme } from '../components/theme.ts';
import { EXIT, type ExitCode, interrupted, UserError } from '../src/errors.ts';
import type { Run } from '../src/state/runs.ts';
import { knownTargets } from './known-targets.ts';
import { createModel, type Model } from './model.ts';
import { type CreateContext, lazyOperations, type Operations } from './operations.ts';
import type { TerminalOutput } from './output.ts';
import type { InitialPlace } from './place.ts';
import { refreshSnapshots, refreshTargets } from './refresh.ts';
import { guardTerminal } from './terminal-guard.ts';

export interface StartOptions {
  environment: NodeJS.ProcessEnv;
  cwd: string;
  /** The file given with `--config`. */
  configFile?: string | undefined;
  stdin: NodeJS.ReadStream;
  stdout: TerminalOutput;
  createContext: CreateContext;
  initial?: InitialPlace;
  /** Switches everything off that writes. */
  readOnly?: boolean;
  /** Instead of the real ones. */
  operations?: Operations;
  clock?: () => Date;
}

/** How long work gets to put everything back when the program is told to end. */
const GRACE_MS = 10_000;

/** Opens the screens; resolves with the exit code when the user has left them and the terminal is as it was. */
export async function start(options: StartOptions): Promise<ExitCode> {
  const { environment, cwd, configFile, stdin, stdout, initial = { screen: 'targets' } } = options;
  requireTerminal(stdin, stdout);
  const { mount } = await loadMount(environment);
  const known = knownTargets({ environment, cwd, configFile });
  const leaving = Promise.withResolvers<ExitCode>();
  const model = createModel({
    initial,
    operations: options.operations ?? lazyOperations(options.createContext),
    terminal: { quit: () => leaving.resolve(exitCode(model)), rows: () => stdout.rows },
    clock: options.clock ?? (() => new Date()),
    readOnly: options.readOnly ?? false,
    known: known.read(),
    remember: known.write,
  });
  const release = guardTerminal({
    stdin,
    stdout,
    onSignal: () => void endWork(model).then(() => leaving.resolve(EXIT.terminated)),
    onCrash: leaving.reject,
  });
  const mounted = mount({ model, theme: createTheme(environment), stdin, stdout });
  mounted.ended.catch(leaving.reject);
  // The first frame is out before anything reads a file or opens a connection.
  setImmediate(() => void look(model, initial));
  try {
    return await leaving.promise;
  } finally {
    mounted.unmount();
    await mounted.ended.catch(() => {});
    release();
    for (const line of farewell(model.runs.store.getState().runs)) stdout.write(`${line}\n`);
  }
}

async function look(model: Model, initial: InitialPlace): Promise<void> {
  if (initial.screen === 'snapshots') void refreshSnapshots(model, initial.target);
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

async function endWork({ runs }: Model): Promise<void> {
  for (const { id } of runs.running()) runs.cancel(id, interrupted(EXIT.terminated));
  await Promise.race([runs.settled(), new Promise((resolve) => setTimeout(resolve, GRACE_MS).unref())]);
}

/** Ink's colours are decided when it is loaded, and it knows nothing of NO_COLOR: it is told just for that moment. */
async function loadMount(environment: NodeJS.ProcessEnv) {
  const before = process.env.FORCE_COLOR;
  if (environment.NO_COLOR) process.env.FORCE_COLOR = '0';
  try {
    return await import('./mount.tsx');
  } finally {
    if (before === undefined) delete process.env.FORCE_COLOR;
    else process.env.FORCE_COLOR = before;
  }
}

function requireTerminal(stdin: NodeJS.ReadStream, stdout: TerminalOutput): void {
  if (stdin.isTTY && stdout.isTTY) return;
  throw new UserError('The screens need a terminal', {
    code: 'no_terminal',
    exit: EXIT.usage,
    hint: 'Every action has a command for scripts: tool --help',
  });
}
