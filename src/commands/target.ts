import type { Invocation, Outcome } from '../cli/command.ts';
import { findTarget } from '../operations/find-target.ts';
import { listSnapshots } from '../operations/snapshots/snapshots.ts';
import { targetInfo } from '../operations/target-info.ts';
import { checkTarget } from '../operations/targets.ts';
import { snapshotsText } from '../report/snapshots.ts';
import { createStyle } from '../report/style.ts';
import { targetInfoText } from '../report/target-info.ts';

interface Arguments {
  target: string;
}

interface Options {
  original?: boolean;
  update?: boolean;
  info?: boolean;
  cloud?: boolean;
}

export async function run(invocation: Invocation<Arguments, Options>): Promise<Outcome> {
  const { terminal, screens } = invocation;
  const { target } = invocation.arguments;
  const { original = false, update = false, info = false, cloud = false } = invocation.options;
  const isPlain = !original && !update && !info && !cloud;
  if (screens && isPlain) return { data: {}, text: '', exit: await screens({ target }) };
  const context = await invocation.context();
  const { share } = findTarget(context.configuration, target);
  const all = await listSnapshots(context, target, { original });
  const listed = cloud ? { ...all, snapshots: all.snapshots.filter(({ where }) => where.includes('remote')) } : all;
  const style = createStyle({ color: terminal.stdout.color, unicode: terminal.unicode });
  const table = snapshotsText(listed, {
    columns: terminal.stdout.columns(),
    style,
    now: context.clock(),
    shares: share !== undefined,
  });
  if (!info) return { data: listed, text: table };
  const row = { ...(await checkTarget(context, target)), info: targetInfo(context, target) };
  return { data: { ...listed, info: row }, text: `${targetInfoText(row)}\n\n${table}` };
}
