import { EXIT, type ExitCode, toUserError, UserError } from '../runtime/errors.ts';
import type { Globals, Grammar, ScreensPlace } from './command.ts';
import type { CommandHost } from './host.ts';
import { noScreensText } from './no-screens-text.ts';
import { printError } from './print-error.ts';
import type { ParsedLine } from './program.ts';
import { withUrlTarget } from './words.ts';

/** Runs the command line. Never throws; the caller ends the process. */
export async function run(host: CommandHost): Promise<ExitCode> {
  try {
    // The screens start without the commands and their parser.
    if (host.words.length === 0 && host.terminal.noScreens === null)
      return await openScreens(withFile(AS_IT_IS, host), host);
    const grammar = await host.loadGrammar();
    const line = await parse(host, grammar);
    if (line.kind !== 'text') line.globals = withFile(line.globals, host);
    switch (line.kind) {
      case 'text':
        host.stdout.write(line.text);
        return EXIT.done;
      case 'incomplete':
        return await runWithoutCommand(line, host);
      case 'command': {
        // Help and version do not load it.
        const { runCommand } = await import('./run-command.ts');
        const { globals } = line;
        const screens = canOpenScreens(globals, host) ? (at: ScreensPlace) => openScreens(globals, host, at) : null;
        return await runCommand(line, { host, grammar, screens });
      }
      default:
        return line satisfies never;
    }
  } catch (thrown) {
    const flags = new Set(host.words);
    return printError(toUserError(thrown), { host, json: flags.has('--json'), debug: flags.has('--debug') });
  }
}

/** `TOOL_CONFIG` names the configuration file when `--config` does not. */
function withFile<Given extends { config?: string }>(given: Given, { environment }: CommandHost): Given {
  return environment.TOOL_CONFIG ? { config: environment.TOOL_CONFIG, ...given } : given;
}

/** Accepts a line without all arguments of a command on a target: `completeArguments` looks for them. */
async function parse(host: CommandHost, grammar: Grammar): Promise<ParsedLine> {
  const { parseLine } = await import('./program.ts');
  const options = { grammar, columns: host.terminal.stdout.columns() };
  const words = await withUrlTarget(host.words, { grammar, environment: host.environment });
  try {
    return parseLine(words, options);
  } catch (thrown) {
    const lacking = toUserError(thrown);
    if (lacking.code !== 'missing_argument') throw thrown;
    const line = parseLine(words, { ...options, mayLackArguments: true });
    if (line.kind !== 'command') throw thrown;
    return { ...line, lacking };
  }
}

async function runWithoutCommand(
  line: Extract<ParsedLine, { kind: 'incomplete' }>,
  host: CommandHost,
): Promise<ExitCode> {
  if (line.alone && line.globals.from !== undefined) {
    throw new UserError('usage', '--from requires a command', {
      hint: 'For example: tool load --from URL --to URL',
    });
  }
  if (line.alone && canOpenScreens(line.globals, host)) return openScreens(line.globals, host);
  if (line.alone && !line.globals.json) {
    host.stdout.write(`${noScreensText(host.terminal.noScreens ?? '--no-tui was given')}\n\n${line.help}`);
    return EXIT.done;
  }
  host.stderr.write(line.help);
  return EXIT.usage;
}

const AS_IT_IS: Pick<Globals, 'config' | 'readOnly' | 'debug' | 'trust'> = {
  readOnly: false,
  debug: false,
  trust: false,
};

function canOpenScreens({ tui, json }: Globals, { terminal }: CommandHost): boolean {
  return terminal.noScreens === null && tui && !json;
}

function openScreens(
  { config, ...flags }: Pick<Globals, 'config' | 'readOnly' | 'debug' | 'trust'>,
  { environment, cwd, signal, openScreens: open }: CommandHost,
  place: ScreensPlace = {},
): Promise<ExitCode> {
  const { readOnly, debug, trust } = flags;
  const named = config === undefined ? {} : { config };
  return open({ ...named, environment, ...place, cwd, signal, readOnly, debug, trust });
}
