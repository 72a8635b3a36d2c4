import { EXIT, type ExitCode, toUserError } from '../runtime/errors.ts';
import type { Globals, ScreensPlace } from './command.ts';
import type { Host } from './host.ts';
import { printError } from './print-error.ts';
import type { ParsedLine } from './program.ts';

/** Runs the command line. Never throws; the caller ends the process. */
export async function run(host: Host): Promise<ExitCode> {
  try {
    // The screens start without the parser.
    if (host.words.length === 0 && host.terminal.interactive) return await openScreens(AS_IT_IS, host);
    const { parseLine } = await import('./program.ts');
    const line = parseLine(host.words, { grammar: host.grammar, columns: host.terminal.stdout.columns() });
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
        return await runCommand(line, { host, screens });
      }
      default:
        return line satisfies never;
    }
  } catch (thrown) {
    const flags = new Set(host.words);
    return printError(toUserError(thrown), { host, json: flags.has('--json'), debug: flags.has('--debug') });
  }
}

async function runWithoutCommand(line: Extract<ParsedLine, { kind: 'incomplete' }>, host: Host): Promise<ExitCode> {
  if (line.alone && canOpenScreens(line.globals, host)) return openScreens(line.globals, host);
  host.stderr.write(line.help);
  return EXIT.usage;
}

const AS_IT_IS = { readOnly: false, debug: false, trust: false };

function canOpenScreens({ tui, json }: Globals, { terminal }: Host): boolean {
  return terminal.interactive && tui && !json;
}

function openScreens(
  { config, ...flags }: Pick<Globals, 'config' | 'readOnly' | 'debug' | 'trust'>,
  { environment, cwd, signal, openScreens: open }: Host,
  place: ScreensPlace = {},
): Promise<ExitCode> {
  const { readOnly, debug, trust } = flags;
  const named = config === undefined ? {} : { config };
  return open({ ...named, environment, ...place, cwd, signal, readOnly, debug, trust });
}
