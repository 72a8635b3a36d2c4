import type { Invocation, Outcome } from '../cli/command.ts';
import { modeOf } from '../config/mode.ts';
import { targetInfo } from '../operations/target-info.ts';
import { checkTargets, listTargets } from '../operations/targets.ts';
import { createStyle } from '../report/style.ts';
import { targetInfoText } from '../report/target-info.ts';
import { targetsText } from '../report/targets.ts';
import type { TargetRow } from '../results.ts';

interface Options {
  check: boolean;
  update?: boolean;
  info?: boolean;
  cloud?: boolean;
  original?: boolean;
}

export async function run(invocation: Invocation<object, Options>): Promise<Outcome> {
  const { terminal, options, screens } = invocation;
  const { check, update = false, info = false, cloud = false, original = false } = options;
  const isPlain = check && !update && !info && !cloud && !original;
  if (screens && isPlain) return { data: {}, text: '', exit: await screens({}) };
  const context = await invocation.context();
  const known = (await listTargets(context, { original })).filter((row) => !cloud || isInCloud(row));
  const found = new Map(known.map((row) => [row.name, row]));
  if (check || update) await checkTargets(context, { rows: known, take: (row) => found.set(row.name, row) });
  const targets = [...found.values()];
  const style = createStyle({ color: terminal.stdout.color, unicode: terminal.unicode });
  const { file, settings } = context.configuration;
  const mode = modeOf(settings);
  const view = { columns: terminal.stdout.columns(), style, file, mode };
  if (!info) return { data: { mode, targets }, text: targetsText(targets, view) };
  const described = targets.map((row) => ({ ...row, info: targetInfo(context, row.name) }));
  return { data: { mode, targets: described }, text: described.map(targetInfoText).join('\n\n') };
}

function isInCloud({ type, storage_profile }: TargetRow): boolean {
  return type !== 'local' || storage_profile !== null;
}
