import { defineCommand } from '../../cli/command.ts';
import type { TargetRow } from '../../results/results.ts';

export const targetsCommand = defineCommand({
  name: 'targets',
  summary: 'list targets with the status of their databases',
  group: 'Inspect',
  options: [
    { flags: '--no-check', description: 'connect to nothing' },
    { flags: '-u, --update', description: 'connect to every database (default)' },
    { flags: '--info', description: 'print all details of each target' },
    { flags: '--cloud', description: 'list only targets with snapshots in cloud storage' },
    { flags: '-o, --original', description: 'count original snapshots only' },
  ],
  examples: [
    { command: 'tool targets --json', does: 'print JSON for scripts' },
    { command: 'tool targets --info --no-check', does: 'print the configuration without connecting' },
  ],
  json: 'document',
  async run(invocation) {
    const { check, update = false, info = false, cloud = false, original = false } = invocation.options;
    const { modeOf } = await import('../../config/mode.ts');
    const { targetInfoText, targetsText } = await import('../../cli/printers/lists.ts');
    const { targetInfo } = await import('../../operations/targets/target-info.ts');
    const { withCopies } = await import('../../operations/targets/target-copies.ts');
    const { queryHub, checkTargets, listTargets } = await import('../../operations/targets/targets.ts');
    const opened = await invocation.context();
    const context = check || update ? await queryHub(opened) : opened;
    const known = (await listTargets(context, { original })).filter((row) => !cloud || isInCloud(row));
    const found = new Map(known.map((row) => [row.name, row]));
    if (check || update) await checkTargets(context, { rows: known, take: (row) => found.set(row.name, row) });
    const listed = [...found.values()];
    const targets = check || update ? await withCopies(context, listed) : listed;
    const { file, settings } = context.configuration;
    const mode = modeOf(settings);
    const now = context.clock().getTime();
    const view = { ...invocation.tableOptions(), file, mode, now };
    if (!info) return { data: { mode, targets }, text: targetsText(targets, view) };
    const described = targets.map((row) => ({ ...row, info: targetInfo(context, row.name) }));
    return { data: { mode, targets: described }, text: described.map((row) => targetInfoText(row, now)).join('\n\n') };
  },
});

function isInCloud({ type, storage_profile }: TargetRow): boolean {
  return type !== 'local' || storage_profile !== null;
}
