import { defineCommand } from '../../cli/command.ts';
import { EXIT } from '../../runtime/errors.ts';

export const configShowCommand = defineCommand({
  name: 'config show',
  summary: 'print every value in force with its origin, secrets masked',
  group: 'Set up',
  examples: [{ command: 'tool config show --json', does: 'print JSON for scripts' }],
  json: 'document',
  async run({ globals, environment, cwd, tableOptions }) {
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
  },
});
