import type { Globals, ScreensPlace } from '../commands/command.ts';
import { EXIT, type ExitCode, toUserError } from '../errors.ts';
import type { Host } from './host.ts';
import { printError } from './print-error.ts';
import type { ParsedLine } from './program.ts';

/** Does what the words ask for. Never throws, and leaves ending the process to the caller. */
export async function run(host: Host): Promise<ExitCode> {
  try {
    // The screens need no parser, and should not wait for one.
    const screens = host.words.length === 0 ? screensOf({ tui: true, json: false }, host) : null;
    if (screens) return await screens({});
    const { parseLine } = await import('./program.ts');
    const line = parseLine(host.words, { grammar: host.grammar, columns: host.terminal.stdout.columns() });
    switch (line.kind) {
      case 'text':
        host.stdout.write(line.text);
        return EXIT.done;
      case 'incomplete':
        return await runWithoutCommand(line, host);
      case 'command': {
        // Not needed for help and version, which should cost next to nothing.
        const { runCommand } = await import('./run-command.ts');
        return await runCommand(line, { host, screens: screensOf(line.globals, host) });
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
  const screens = line.alone ? screensOf(line.globals, host) : null;
  if (screens) return screens({});
  host.stderr.write(line.help);
  return EXIT.usage;
}

function screensOf({ tui, json, config }: Pick<Globals, 'tui' | 'json' | 'config'>, host: Host): ((place: ScreensPlace) => Promise<ExitCode>) | null {
  if (!host.terminal.interactive || !tui || json) return null;
  const { environment, cwd, signal, openScreens } = host;
  return (place) => openScreens({ ...(config === undefined ? {} : { config }), environment, ...place, cwd, signal });
}
