import type { Writable } from 'node:stream';
import { rememberTrust } from '../config/trust/trust-store.ts';
import { UntrustedConfiguration } from '../config/trust/untrusted-configuration.ts';
import { type UrlTarget, urlTarget } from '../config/urls/url-target.ts';
import { hideKnown, knownSecrets, redact, redactOwn } from '../process/redact.ts';
import type { Context } from '../runtime/context.ts';
import { EXIT, type ExitCode, toUserError, UserError } from '../runtime/errors.ts';
import { isTrue } from '../runtime/terminal.ts';
import { joinLines, printableLines, printableStyled } from '../text/printable.ts';
import type { CommandOutcome, Globals, Grammar, Invocation } from './command.ts';
import { completeArguments, needsTarget, targetOf } from './complete-arguments.ts';
import { ask, confirm } from './confirm.ts';
import type { CommandHost } from './host.ts';
import { printError } from './print-error.ts';
import { createJsonPrinter, jsonLine } from './printers/json.ts';
import { createLivePrinter } from './printers/live.ts';
import { createPlainPrinter } from './printers/plain.ts';
import type { Printer } from './printers/printer.ts';
import { createStyle } from './printers/style.ts';
import type { ParsedLine } from './program.ts';

type CommandLine = Extract<ParsedLine, { kind: 'command' }>;

export interface CommandRun {
  host: CommandHost;
  grammar: Grammar;
  screens: Invocation['screens'];
}

export async function runCommand(line: CommandLine, { host: given, grammar, screens }: CommandRun): Promise<ExitCode> {
  const { spec, globals } = line;
  const session = createSession(line, given);
  const { host, printer } = session;
  const { clock, signal } = host;
  const startedAt = clock().getTime();
  const invocation = invocationOf(line, { session, host: given, grammar, screens });
  try {
    if (globals.readOnly && writes(line)) throw readOnlyRefusal(spec.name);
    const outcome = await perform(line, { session, invocation });
    // Without them the command would end as if its work were done.
    for (const error of given.failedUnawaited?.() ?? []) throw error;
    if (session.opened() && !globals.json) await mentionGone(line, { cwd: host.cwd, report: printer.report });
    printer.end('done');
    printOutcome(outcome, { line, host: outcome.verbatim ? given : host, durationMs: clock().getTime() - startedAt });
    return outcome.exit ?? EXIT.done;
  } catch (thrown) {
    printer.end('failed');
    // After an abort, the abort is the cause of any error; one of its own states what it has left.
    const statesOutcome = thrown instanceof UserError && thrown.code === 'interrupted';
    const error = toUserError(signal.aborted && !statesOutcome ? signal.reason : thrown);
    const context = await session.opened()?.catch(() => null);
    context?.logFailure?.(error);
    return printError(error, { host, json: globals.json && spec.json, debug: session.debug() });
  }
}

type Session = ReturnType<typeof createSession>;

/** The context of a command, which is opened once, and its output, which hides the secrets of the context from then on. */
function createSession(line: CommandLine, given: CommandHost) {
  const { globals } = line;
  let known: string[] = [];
  let opened: Promise<Context> | undefined;
  let debug = globals.debug;
  const host = hidingSecrets(given, () => known);
  const printer = choosePrinter(line, { host, debug: () => debug });

  async function open(config = globals.config): Promise<Context> {
    const { environment, cwd, clock, signal } = host;
    const { report } = printer;
    const urls = urlsOf(globals, environment);
    const opening = { config, environment, cwd, report, signal, clock, debug, target: targetOf(line), urls };
    const context = await host.openContext(opening).catch(async (thrown: unknown) => {
      if (config !== undefined) throw thrown;
      const { withMainTreeFile } = await import('../operations/link/mention.ts');
      throw await withMainTreeFile(thrown, host);
    });
    debug ||= context.configuration.settings.debug;
    const { secretValues } = await import('../config/secrets/secret-values.ts');
    const { settingsWithMisnamed } = await import('../config/problems/misnamed-targets.ts');
    const settings = settingsWithMisnamed(context.configuration);
    known = knownSecrets(secretValues({ settings, environment, urls: urlsIn(line) }));
    return context;
  }

  return {
    host,
    printer,
    debug: () => debug,
    opened: () => opened,
    context(config?: string) {
      opened ??= open(config);
      return opened;
    },
    openAgain() {
      opened = undefined;
    },
    hideOwn: (text: string): string => hideKnown(redactOwn(text), known),
  };
}

interface CommandSession extends CommandRun {
  session: Session;
}

function invocationOf(
  { arguments: words, options, globals }: CommandLine,
  { session, host: given, grammar, screens }: CommandSession,
): Invocation {
  const { host, printer, hideOwn, context } = session;
  const { terminal, environment, cwd, stdin, signal } = host;
  const assumeYes = globals.yes || terminal.ci || isTrue(environment.TOOL_NO_CONFIRM);
  const { canAsk } = terminal;
  return {
    ...{ arguments: words, options, globals, grammar, terminal, environment, cwd, stdin, signal, screens, context },
    report: printer.report,
    write: (text) => void host.stdout.write(text),
    stdout: given.stdout,
    tableOptions: () => ({
      columns: terminal.stdout.columns(),
      style: createStyle({ color: terminal.stdout.color, unicode: terminal.unicode }),
    }),
    canConfirm: assumeYes || canAsk,
    confirm: (question) =>
      confirm(question, {
        ...{ hide: hideOwn, assumeYes, canAsk, input: stdin, signal },
        ...{ output: given.stderr, columns: terminal.stderr.columns() },
      }),
  };
}

async function perform(
  line: CommandLine,
  { session, invocation }: { session: Session; invocation: Invocation },
): Promise<CommandOutcome> {
  const { host } = session;
  const work = async (): Promise<CommandOutcome> => {
    if (line.lacking && !needsTarget(line)) throw line.lacking;
    if (needsTarget(line)) completeArguments(line, await session.context(), host.words);
    return line.spec.run({ ...invocation, arguments: line.arguments } as Invocation<never, never>);
  };
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof UntrustedConfiguration)) throw thrown;
    // The configuration is read before any change, so the command can start again.
    await settleTrust(thrown, { host, line, canConfirm: invocation.canConfirm });
    session.openAgain();
    return work();
  }
}

/** Not in the hook, which nobody reads, and not after a prune. */
async function mentionGone({ spec, options }: CommandLine, { cwd, report }: Pick<Invocation, 'cwd' | 'report'>) {
  if (spec.name === 'branch prune' || 'tree' in options) return;
  const { mentionGoneTrees } = await import('../operations/link/mention.ts');
  await mentionGoneTrees(cwd, report).catch(() => {});
}

function urlsOf({ from, to }: Globals, environment: NodeJS.ProcessEnv): UrlTarget | undefined {
  return from === undefined ? undefined : urlTarget({ from, to }, environment);
}

function urlsIn({ arguments: words, options, globals }: CommandLine): string[] {
  const values: unknown[] = [...Object.values(words), ...Object.values(options), globals.from, globals.to];
  return values.filter((value) => typeof value === 'string').filter((value) => value.includes('://'));
}

function hidingSecrets(host: CommandHost, known: () => string[]): CommandHost {
  const hiding = (stream: Writable): Writable =>
    Object.create(stream, { write: { value: (text: string) => stream.write(hideKnown(text, known())) } });
  return { ...host, stdout: hiding(host.stdout), stderr: hiding(host.stderr) };
}

function writes({ spec, options: given }: CommandLine): boolean {
  const options: Record<string, unknown> = { ...given };
  const { writes = false } = spec;
  if (options.dryRun === true) return false;
  if (typeof writes === 'boolean') return writes;
  return 'option' in writes ? options[writes.option] === true : options[writes.unless] !== true;
}

function readOnlyRefusal(command: string): UserError {
  return new UserError('read_only', `tool ${command} changes data, and --read-only was given`, {
    hint: 'Run it again without --read-only.',
  });
}

function choosePrinter(
  { spec, globals }: CommandLine,
  { host, debug }: { host: CommandHost; debug: () => boolean },
): Printer {
  const { terminal, stdout, stderr, clock } = host;
  if (globals.json && spec.json === 'events') return createJsonPrinter({ write: (text) => stdout.write(text), debug });
  const style = createStyle({ color: terminal.stderr.color, unicode: terminal.unicode });
  const options = { write: (text: string) => stderr.write(text), style, clock, debug };
  const live = terminal.stderr.isTerminal && globals.tui && !terminal.ci && !globals.json;
  return live
    ? createLivePrinter({ ...options, columns: () => terminal.stderr.columns() ?? 80 })
    : createPlainPrinter(options);
}

function printOutcome(
  outcome: CommandOutcome,
  { line: { spec, globals }, host, durationMs }: { line: CommandLine; host: CommandHost; durationMs: number },
): void {
  const { data, text, verbatim = false, quotes = false } = outcome;
  const hide = quotes ? redact : redactOwn;
  if (verbatim) {
    // A pipe gets the exact bytes.
    host.stdout.write(`${host.terminal.stdout.isTerminal ? printableLines(text) : text}\n`);
    return;
  }
  if (!globals.json) {
    if (text !== '') host.stdout.write(`${printableStyled(hide(text))}\n`);
    return;
  }
  const document =
    spec.json === 'events' ? { event: 'done', command: spec.name, duration_ms: durationMs, ...data } : data;
  host.stdout.write(jsonLine(document, hide));
}

interface TrustOptions {
  host: Pick<CommandHost, 'stdin' | 'stderr' | 'terminal' | 'signal' | 'environment'>;
  line: Pick<CommandLine, 'spec' | 'globals'>;
  canConfirm: boolean;
}

/** `--yes` does not answer this question: it concerns the command, not the file. */
async function settleTrust(
  { request }: UntrustedConfiguration,
  { host, line: { spec, globals }, canConfirm }: TrustOptions,
): Promise<void> {
  const { stdin: input, stderr: output, terminal, signal, environment } = host;
  if (!globals.trust) {
    const { TRUST_QUESTION, trustAbout, trustLines } = await import('../operations/trust/trust-text.ts');
    const lines = trustLines(request);
    if (!terminal.canAsk) {
      throw new UntrustedConfiguration(request, lines, { command: spec.name, assumeYes: canConfirm });
    }
    output.write(`${joinLines([...trustAbout(request), ...lines.map((line) => `  ${line}`)])}\n`);
    const answer = await ask(`${TRUST_QUESTION} [y/N] `, { input, output, signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new UntrustedConfiguration(request, lines);
  }
  await rememberTrust(request, environment);
}
