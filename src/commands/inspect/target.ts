import { defineCommand } from '../../cli/command.ts';
import { toSelector } from '../../text/snapshot-selector.ts';
import { SNAPSHOT, TARGET } from '../shared-options.ts';

export const targetCommand = defineCommand({
  name: 'target',
  summary: "list a target's local and remote snapshots, newest first",
  group: 'Inspect',
  arguments: [TARGET, { ...SNAPSHOT, description: 'only matching ones; default: all' }],
  options: [
    { flags: '-o, --original', description: 'also list original snapshots of a share target' },
    { flags: '--info', description: 'print all details of target and snapshots' },
  ],
  examples: [
    { command: 'tool target app', does: 'list the snapshots' },
    { command: 'tool target app@main', does: 'list snapshots of git branch main' },
    { command: 'tool target app#v2.4', does: 'list snapshots with a tag' },
    { command: 'tool target app --info', does: 'print all details' },
  ],
  json: 'document',
  async run(invocation) {
    const { target, snapshot } = invocation.arguments;
    const { original = false, info = false } = invocation.options;
    const { snapshotsText, targetInfoText } = await import('../../cli/printers/lists.ts');
    const { findTarget } = await import('../../operations/targets/find-target.ts');
    const { listSnapshots } = await import('../../operations/snapshots/snapshots.ts');
    const { targetInfo } = await import('../../operations/targets/target-info.ts');
    const { withContents } = await import('../../operations/targets/contents.ts');
    const { withCopies } = await import('../../operations/targets/target-copies.ts');
    const { checkTarget } = await import('../../operations/targets/targets.ts');
    const context = await invocation.context();
    const { share } = findTarget(context.configuration, target);
    const select = snapshot === undefined ? undefined : toSelector(snapshot);
    const listed = await listSnapshots(context, target, { original, select });
    const now = context.clock().getTime();
    const table = snapshotsText(listed, { ...invocation.tableOptions(), now, shares: share !== undefined });
    if (!info) return { data: listed, text: table };
    const [checked] = await withCopies(context, [await checkTarget(context, target)]);
    if (!checked) throw new Error('the target has no row');
    const row = { ...(await withContents(context, checked)), info: targetInfo(context, target) };
    return { data: { ...listed, info: row }, text: `${targetInfoText(row, now)}\n\n${table}` };
  },
});
