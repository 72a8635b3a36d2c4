import type { Invocation, Outcome } from '../../cli/command.ts';
import { EXIT } from '../../errors.ts';
import { show } from '../../operations/configuration/show.ts';
import { configurationText } from '../../report/configuration.ts';
import { createStyle } from '../../report/style.ts';

export async function run({ globals, terminal, environment, cwd }: Invocation): Promise<Outcome> {
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
