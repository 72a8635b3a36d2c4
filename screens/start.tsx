import { type InEffect, inEffect } from '../src/config/keys/in-effect.ts';
import { shortPath } from '../src/config/paths.ts';
import { EXIT, type ExitCode, toUserError, UserError } from '../src/runtime/errors.ts';
import type { Colors } from '../src/runtime/terminal.ts';
import type { Run } from '../src/state/runs.ts';
import { cellWidth } from '../src/text/text-width.ts';
import { createAppearance } from './app/appearance.ts';
import { createModel } from './app/create-model.ts';
import { endedLine } from './app/frame/run-text.ts';
import { cacheFile, knownTargets } from './app/lists/known-targets.ts';
import { cancelRefresh, refreshTargets } from './app/lists/refresh.ts';
import { isAtRoot, isUnconfigured, type Model } from './app/model.ts';
import type { CreateContext } from './app/operation-binder.ts';
import { lazyOperations, type Operations } from './app/operations.ts';
import { createAnnouncer } from './app/terminal/announcing.ts';
import { createHandOver } from './app/terminal/hand-over.ts';
import { mount } from './app/terminal/mount.tsx';
import { MOUSE_OFF, MOUSE_ON } from './app/terminal/mouse.ts';
import type { TerminalOutput } from './app/terminal/output.ts';
import { guardTerminal } from './app/terminal/terminal-guard.ts';
import { misnamedText } from './app/text.ts';
import { answerTrust, confirmTrust, untrustedOf } from './commands/configuration/trust.ts';
import { setUp } from './setup/actions.ts';

export interface StartOptions {
  /** The file given with `--config`. */
  config?: string | undefined;
  /** Opens the wizard for a first configuration. */
  setUp?: boolean;
  environment: NodeJS.ProcessEnv;
  cwd: string;
  signal: AbortSignal;
  stdin: NodeJS.ReadStream;
  stdout: TerminalOutput;
  /** The terminal supports glyphs beyond ASCII. */
  unicode: boolean;
  /** Default: 256. */
  colors?: Colors;
  /** Shown in the status bar. */
  version?: string;
  clock: () => Date;
  createContext: CreateContext;
  /** Disables everything that writes. */
  readOnly?: boolean;
  /** Trusts the configuration of the current folder without a question. */
  trust?: boolean;
  /** Keeps a log even where the configuration does not. */
  debug?: boolean;
  /** For tests. */
  operations?: Operations;
}

/** Time for live runs to clean up on a termination signal. */
const GRACE_MS = 10_000;

/** Opens the screens; resolves with the exit code when the user has left and the terminal is restored. */
export async function start(options: StartOptions): Promise<ExitCode> {
  const { environment, cwd, config, stdin, stdout, signal, unicode } = options;
  requireTerminal(stdin, stdout);
  const known = knownTargets({ environment, cwd, config });
  const handOver = createHandOver(environment);
  const announcer = createAnnouncer(stdout);
  const leaving = Promise.withResolvers<ExitCode>();
  const screenReader = environment.INK_SCREEN_READER === 'true';
  const { colors = 256 } = options;
  const { theme, choose, prefer, report } = createAppearance({ environment, unicode, colors, screenReader });
  const configurationRead = ({ file, theme: chosen, misnamed, ...session }: InEffect): void => {
    model.session.setState({ ...session, file: shownFile(file, { environment, cwd }) });
    choose(chosen);
    if (misnamed.length > 0) model.navigation.notify({ tone: 'caution', text: misnamedText(misnamed) });
  };
  const createContext: CreateContext = async (session) => {
    const context = await options.createContext(session);
    configurationRead(inEffect(context.configuration));
    return context;
  };
  const surroundings = { file: config, environment, cwd, clock: options.clock };
  const model: Model = createModel({
    operations:
      options.operations ?? lazyOperations(createContext, surroundings, { debug: options.debug, configurationRead }),
    terminal: {
      quit: () => leaving.resolve(exitCode(model)),
      rows: () => stdout.rows,
      columns: () => stdout.columns,
      edit: handOver.edit,
      run: handOver.run,
      mouse: (on) => void stdout.write(on ? MOUSE_ON : MOUSE_OFF),
      copy: (text) => void stdout.write(copying(text)),
      useTheme: prefer,
      announce: announcer.announce,
    },
    clock: options.clock,
    cwd,
    config,
    version: options.version ?? '',
    readOnly: options.readOnly ?? false,
    known: known.read(),
    remember: known.write,
  });
  if (options.setUp) setUp(model);
  const release = guardTerminal({ stdin, stdout, onCrash: leaving.reject });
  signal.addEventListener('abort', () => void endWork(model, signal).then(leaving.resolve), { once: true });
  const onBackground = colors === 0 || screenReader ? undefined : report;
  const mounted = mount({ model, handOver, theme, onBackground, stdin, stdout, unicode, screenReader });
  mounted.ended.catch(leaving.reject);
  // The first frame is drawn before anything reads a file or opens a connection.
  setImmediate(() => void openFirst(model, options));
  try {
    return await leaving.promise;
  } catch (thrown) {
    throw thrown instanceof UserError ? thrown : await crashed(thrown, options);
  } finally {
    cancelRefresh(model);
    await model.operations.endServers().catch(() => {});
    await mounted.unmount();
    await mounted.ended.catch(() => {});
    release();
    announcer.restore();
    for (const line of farewell(model.runs.store.getState().runs)) stdout.write(`${line}\n`);
  }
}

const FILE_WIDTH = 36;

function shownFile(file: string | null, places: { environment: NodeJS.ProcessEnv; cwd: string }): string | null {
  if (file === null) return null;
  const short = shortPath(file, places);
  return cellWidth(short) <= FILE_WIDTH ? short : `…${short.slice(1 - FILE_WIDTH)}`;
}

/** OSC 52: the terminal sets the clipboard of its own machine, over SSH too. */
function copying(text: string): string {
  return `\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`;
}

async function crashed(error: unknown, { environment, clock }: StartOptions): Promise<UserError> {
  const { recordCrash } = await import('../src/operations/record-crash.ts');
  return recordCrash({ error, file: cacheFile(environment, 'crash.log'), at: clock() });
}

async function openFirst(model: Model, { trust = false }: StartOptions): Promise<void> {
  await refreshTargets(model);
  const untrusted = untrustedOf(model);
  if (untrusted && trust) await answerTrust(model, untrusted);
  else if (untrusted) confirmTrust(model);
  if (isUnconfigured(model) && !model.readOnly && isAtRoot(model)) setUp(model);
}

/** A line for each run, for the scrollback of the terminal. */
export function farewell(runs: Run[]): string[] {
  return runs.map((run) => endedLine(run).text);
}

function exitCode(model: Model): ExitCode {
  const runs = model.runs.store.getState().runs;
  return runs.at(-1)?.state.status === 'cancelled' ? EXIT.interrupted : EXIT.done;
}

async function endWork({ runs }: Model, { reason }: AbortSignal): Promise<ExitCode> {
  runs.cancelAll(reason);
  await Promise.race([runs.settled(), new Promise((resolve) => setTimeout(resolve, GRACE_MS).unref())]);
  return toUserError(reason).exit;
}

function requireTerminal(stdin: NodeJS.ReadStream, stdout: TerminalOutput): void {
  if (stdin.isTTY && stdout.isTTY) return;
  throw new UserError('no_terminal', 'The screens need a terminal', {
    hint: 'Every action has a command for scripts: tool --help',
  });
}
