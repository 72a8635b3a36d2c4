import type { CommandModule, CommandSpec, Invocation, Outcome } from '../../cli/command.ts';
import { EXIT } from '../../errors.ts';
import { configurationText } from '../../report/configuration.ts';
import { createStyle } from '../../report/style.ts';

const specification = {
  name: 'config show',
  summary: 'the configuration in force, each value with where it comes from; secrets masked',
  group: 'Set up',
  arguments: [],
  options: [],
  examples: [{ command: 'tool config show --json', does: 'every value with its origin, for scripts' }],
  json: 'document',
} as const satisfies CommandSpec;

export const configShowCommand: CommandModule = { ...specification, run };

async function run({ globals, terminal, environment, cwd }: Invocation): Promise<Outcome> {
  const { show } = await import('../../operations/configuration/show.ts');
  const { shown, text } = await show({ file: globals.config, environment, cwd });
  const style = createStyle({ color: terminal.stdout.color, unicode: terminal.unicode });
  const isValid = shown.problems.every(({ severity }) => severity !== 'error');
  return {
    data: shown,
    text: configurationText(shown, { columns: terminal.stdout.columns(), style, text }),
    quotes: true,
    exit: isValid ? EXIT.done : EXIT.configuration,
  };
}
