import type { Invocation, Outcome } from '../cli/command.ts';
import { planUndo, undo } from '../operations/load/undo.ts';
import { undoneText, undoPlanLines, undoQuestion } from '../report/undo.ts';

interface Arguments {
  target: string;
}

interface Options {
  destdb?: string;
  dryRun?: boolean;
  unverifiedSources?: boolean;
}

export async function run(invocation: Invocation<Arguments, Options>): Promise<Outcome> {
  const { destdb, dryRun, unverifiedSources } = invocation.options;
  const context = await invocation.context();
  const request = {
    ...invocation.arguments,
    ...(destdb !== undefined && { destdb }),
    ...(unverifiedSources && { unverifiedSources }),
  };
  const plan = await planUndo(context, request);
  const now = context.clock();
  if (dryRun) return { data: { dry_run: true, plan }, text: undoPlanLines(plan, now).join('\n') };
  await invocation.confirm(undoQuestion(plan, now));
  const result = await undo(context, plan, request);
  return { data: result, text: undoneText(plan, result) };
}
