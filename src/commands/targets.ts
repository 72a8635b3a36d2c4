import { modeOf } from '../config/mode.ts';
import { checkTargets, listTargets } from '../operations/targets.ts';
import { createStyle } from '../report/style.ts';
import { targetsText } from '../report/targets.ts';
import type { Invocation, Outcome } from './command.ts';

interface Options {
  check: boolean;
}

export async function run(invocation: Invocation<object, Options>): Promise<Outcome> {
  const { terminal, options, screens } = invocation;
  if (screens && options.check) return { data: {}, text: '', exit: await screens({}) };
  const context = await invocation.context();
  const known = await listTargets(context);
  const found = new Map(known.map((row) => [row.name, row]));
  if (options.check) {
    await checkTargets(context, { rows: known, take: (row) => found.set(row.name, row) });
  }
  const targets = [...found.values()];
  const style = createStyle({ color: terminal.stdout.color, unicode: terminal.unicode });
  const { file, settings } = context.configuration;
  const mode = modeOf(settings);
  const view = { columns: terminal.stdout.columns(), style, file, mode };
  return { data: { mode, targets }, text: targetsText(targets, view) };
}
