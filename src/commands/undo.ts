import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import { DRY_RUN, TARGET, UNVERIFIED_SOURCES } from './shared-options.ts';

const specification = {
  name: 'undo',
  summary: 'restore the database that the last load replaced',
  group: 'Snapshots',
  arguments: [TARGET],
  options: [
    { flags: '--destdb <url>', description: 'the destination, if it was loaded with --destdb' },
    DRY_RUN,
    UNVERIFIED_SOURCES,
  ],
  examples: [{ command: 'tool undo app', does: 'restore the previous destination' }],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const undoCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { questionLines } = await import('../cli/printers/question.ts');
  const { undoQuestion, undoSummary } = await import('../presentation/load.ts');
  const { applyUndo, planUndo } = await import('../operations/load/undo.ts');
  const { dryRun, ...options } = invocation.options;
  const context = await invocation.context();
  const planned = await planUndo(context, { ...invocation.arguments, ...options });
  const { plan } = planned;
  const question = undoQuestion(plan, context.clock());
  if (dryRun) return { data: { dry_run: true, plan }, text: questionLines(question).join('\n') };
  await invocation.confirm(question);
  const result = await applyUndo(context, planned);
  return { data: result, text: undoSummary(plan, result).line };
}
