import { EXIT } from '../errors.ts';
import { check } from '../operations/check.ts';
import { checkText } from '../report/check.ts';
import { createStyle } from '../report/style.ts';
import type { Invocation, Outcome } from './command.ts';

export async function run({ globals, terminal, ...invocation }: Invocation): Promise<Outcome> {
  const { report, text } = await check({ ...invocation, file: globals.config, clock: () => new Date() });
  const style = createStyle({ color: terminal.stdout.color, unicode: terminal.unicode });
  return {
    data: report,
    text: checkText(report, { text, style }),
    exit: report.ok ? EXIT.done : EXIT.configuration,
  };
}
