import type { CommandModule, CommandSpec, Invocation, Outcome } from '../../cli/command.ts';
import { EXIT } from '../../runtime/errors.ts';

const specification = {
  name: 'config show',
  summary: 'print every value in force with its origin, secrets masked',
  group: 'Set up',
  arguments: [],
  options: [],
  examples: [{ command: 'tool config show --json', does: 'print JSON for scripts' }],
  json: 'document',
} as const satisfies CommandSpec;

export const configShowCommand: CommandModule = { ...specification, run };

async function run({ globals, environment, cwd, tableOptions }: Invocation): Promise<Outcome> {
  const { configurationText } = await import('../../cli/printers/configuration.ts');
  const { show } = await import('../../operations/configuration/show.ts');
  const { shown, text } = await show({ file: globals.config, environment, cwd });
  const isValid = shown.problems.every(({ severity }) => severity !== 'error');
  return {
    data: shown,
    text: configurationText(shown, { ...tableOptions(), text }),
    quotes: true,
    exit: isValid ? EXIT.done : EXIT.configuration,
  };
}
