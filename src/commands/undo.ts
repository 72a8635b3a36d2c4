import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import { DRY_RUN, TARGET, UNVERIFIED_SOURCES } from './shared-options.ts';

const specification = {
  name: 'undo',
  summary: 'put the database that the last load replaced back',
  group: 'Snapshots',
  arguments: [TARGET],
  options: [
    { flags: '--destdb <url>', description: 'the destination that was loaded with --destdb' },
    DRY_RUN,
    UNVERIFIED_SOURCES,
  ],
  examples: [{ command: 'tool undo app', does: 'restore the destination of "app" from before the last load' }],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const undoCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { undoneText, undoPlanLines, undoQuestion } = await import('../report/undo.ts');
  const { planUndo, undo } = await import('../operations/load/undo.ts');
  const { dryRun, ...options } = invocation.options;
  const context = await invocation.context();
  const request = { ...invocation.arguments, ...options };
  const plan = await planUndo(context, request);
  const now = context.clock();
  if (dryRun) return { data: { dry_run: true, plan }, text: undoPlanLines(plan, now).join('\n') };
  await invocation.confirm(undoQuestion(plan, now));
  const result = await undo(context, plan, request);
  return { data: result, text: undoneText(plan, result) };
}
