import { defineCommand } from '../../cli/command.ts';

export const targetsCommand = defineCommand({
  name: 'targets',
  summary: 'list targets with the status of their databases',
  group: 'Inspect',
  options: [
    { flags: '--no-check', description: 'connect to nothing' },
    { flags: '--info', description: 'print all details of each target' },
  ],
  examples: [
    { command: 'tool targets --json', does: 'print JSON for scripts' },
    { command: 'tool targets --info --no-check', does: 'print the configuration without connecting' },
  ],
  json: 'document',
  async run(invocation) {
    const { check, info = false } = invocation.options;
    const { lacksSignIn, modeOf } = await import('../../config/mode.ts');
    const { targetInfoText, targetsText } = await import('../../cli/printers/lists.ts');
    const { targetInfo } = await import('../../operations/targets/target-info.ts');
    const { withCopies } = await import('../../operations/targets/target-copies.ts');
    const { queryHub, checkTargets, listTargets } = await import('../../operations/targets/targets.ts');
    const opened = await invocation.context();
    const context = check ? await queryHub(opened) : opened;
    const known = await listTargets(context);
    const found = new Map(known.map((row) => [row.name, row]));
    if (check) await checkTargets(context, { rows: known, take: (row) => found.set(row.name, row) });
    const listed = [...found.values()];
    const targets = check ? await withCopies(context, listed) : listed;
    const { file, settings } = context.configuration;
    const mode = modeOf(settings);
    const now = context.clock().getTime();
    const view = { ...invocation.tableOptions(), file, mode, lacksSignIn: lacksSignIn(settings), now };
    if (!info) return { data: { mode, targets }, text: targetsText(targets, view) };
    const described = targets.map((row) => ({ ...row, info: targetInfo(context, row.name) }));
    return { data: { mode, targets: described }, text: described.map((row) => targetInfoText(row, now)).join('\n\n') };
  },
});
