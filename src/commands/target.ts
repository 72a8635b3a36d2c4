import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import { BUILT_AT, TARGET } from './shared-options.ts';

const specification = {
  name: 'target',
  summary: "list a target's snapshots, newest first, those of this machine and those in the bucket",
  group: 'Look',
  arguments: [TARGET],
  options: [
    { flags: '-o, --original', description: 'of a share target also original snapshots' },
    { flags: '-u, --update', description: 'read the bucket again, which is the default' },
    { flags: '--info', description: 'with all details of the target and of each snapshot' },
    { flags: '--cloud', description: 'only snapshots that are in the bucket' },
    ...BUILT_AT,
  ],
  examples: [
    { command: 'tool target app', does: 'the snapshots of "app"' },
    { command: 'tool target app --branch main', does: 'snapshots built on the git branch main' },
    { command: 'tool target app --tag v2.4', does: 'snapshots with a tag' },
    { command: 'tool target app --info', does: 'also where they come from and go, and what they leave out' },
  ],
  json: 'document',
} as const satisfies CommandSpec;

export const targetCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { target } = invocation.arguments;
  const { original = false, info = false, cloud = false, branch, migration, tag } = invocation.options;
  const { snapshotsText, targetInfoText } = await import('../cli/printers/lists.ts');
  const { findTarget } = await import('../operations/find-target.ts');
  const { listSnapshots } = await import('../operations/snapshots/snapshots.ts');
  const { targetInfo } = await import('../operations/target-info.ts');
  const { withCopies } = await import('../operations/target-copies.ts');
  const { checkTarget } = await import('../operations/targets.ts');
  const context = await invocation.context();
  const { share } = findTarget(context.configuration, target);
  const all = await listSnapshots(context, target, { original, branch, migration, tag });
  const listed = cloud ? { ...all, snapshots: all.snapshots.filter(({ where }) => where.includes('remote')) } : all;
  const now = context.clock().getTime();
  const table = snapshotsText(listed, { ...invocation.tableOptions(), now, shares: share !== undefined });
  if (!info) return { data: listed, text: table };
  const [checked] = await withCopies(context, [await checkTarget(context, target)]);
  if (!checked) throw new Error('the target has no row');
  const row = { ...checked, info: targetInfo(context, target) };
  return { data: { ...listed, info: row }, text: `${targetInfoText(row, now)}\n\n${table}` };
}
