import type { Invocation, Outcome } from '../../cli/command.ts';
import { EXIT } from '../../errors.ts';
import { check } from '../../operations/configuration/check.ts';
import { checkText } from '../../report/check.ts';
import { createStyle } from '../../report/style.ts';

interface Options {
  offline?: boolean;
}

export async function run({
  globals,
  terminal,
  options,
  ...invocation
}: Invocation<object, Options>): Promise<Outcome> {
  const { offline = false } = options;
  const { report, text } = await check({ ...invocation, file: globals.config, offline, clock: () => new Date() });
  const style = createStyle({ color: terminal.stdout.color, unicode: terminal.unicode });
  return {
    data: report,
    text: checkText(report, { text, style }),
    quotes: true,
    exit: report.ok ? EXIT.done : EXIT.configuration,
  };
}
