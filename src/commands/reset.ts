import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import type { Context } from '../runtime/context.ts';
import { EXIT, UserError } from '../runtime/errors.ts';
import { DRY_RUN, TARGET, UNVERIFIED_SOURCES } from './shared-options.ts';

const specification = {
  name: 'reset',
  summary: "restore a target's destination to its state after the last load, from its base copy",
  group: 'Snapshots',
  arguments: [TARGET],
  options: [
    { flags: '--destdb <url>', description: 'the destination, if it was loaded with --destdb' },
    DRY_RUN,
    { flags: '--no-undo', description: 'keep no undo copy' },
    { flags: '--spare', description: 'create a spare afterwards, for an instant next reset' },
    { flags: '--no-spare', description: 'create no spare, even if keep_spare is set' },
    { flags: '--drop', description: 'drop base copy and spare instead' },
    UNVERIFIED_SOURCES,
  ],
  examples: [
    { command: 'tool reset app', does: 'restore the base copy' },
    { command: 'tool reset app --spare --yes', does: 'do it in a script, with a spare' },
    { command: 'tool reset app --drop', does: 'free the space of both copies' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const resetCommand: CommandModule = { ...specification, run };

type Invocation = InvocationOf<typeof specification>;

async function run(invocation: Invocation): Promise<Outcome> {
  const { undo, spare, drop } = invocation.options;
  if (drop && (spare !== undefined || !undo)) throw dropAlone();
  const context = await invocation.context();
  return drop ? dropCopies(invocation, context) : reset(invocation, context);
}

async function reset(invocation: Invocation, context: Context): Promise<Outcome> {
  const { questionLines } = await import('../cli/printers/question.ts');
  const { resetQuestion, resetSummary } = await import('../presentation/reset.ts');
  const { summaryText } = await import('../presentation/shapes/summary.ts');
  const { applyReset, planReset } = await import('../operations/load/reset.ts');
  const { dryRun, drop: _, ...options } = invocation.options;
  const planned = await planReset(context, { ...invocation.arguments, ...options });
  const { plan } = planned;
  const question = resetQuestion(plan, context.clock());
  if (dryRun) return { data: { dry_run: true, plan }, text: questionLines(question).join('\n') };
  for (const warning of plan.warnings) context.report({ event: 'warning', ...warning });
  await invocation.confirm(question);
  const result = await applyReset(context, planned);
  return { data: result, text: summaryText(resetSummary(plan, result)) };
}

async function dropCopies(invocation: Invocation, context: Context): Promise<Outcome> {
  const { questionLines } = await import('../cli/printers/question.ts');
  const { dropCopiesQuestion, dropCopiesSummary } = await import('../presentation/reset.ts');
  const { summaryText } = await import('../presentation/shapes/summary.ts');
  const { applyDropCopies, planDropCopies } = await import('../operations/load/reset.ts');
  const { destdb, unverifiedSources, dryRun } = invocation.options;
  const request = { ...invocation.arguments, ...(destdb !== undefined && { destdb }), unverifiedSources };
  const planned = await planDropCopies(context, request);
  const { plan } = planned;
  const question = dropCopiesQuestion(plan);
  if (dryRun) return { data: { dry_run: true, plan }, text: questionLines(question).join('\n') };
  await invocation.confirm(question);
  const result = await applyDropCopies(context, planned);
  return { data: result, text: summaryText(dropCopiesSummary(result)) };
}

function dropAlone(): UserError {
  return new UserError('--drop resets nothing, so --spare and --no-undo are not for it', {
    code: 'usage',
    exit: EXIT.usage,
    hint: 'tool reset TARGET --drop',
  });
}
