import type { Invocation, Outcome } from '../cli/command.ts';
import { explainSubset } from '../operations/subset/explain-subset.ts';
import { planSubset, subset } from '../operations/subset/subset.ts';
import type { SubsetRequest } from '../operations/subset/subset-setting.ts';
import { createStyle } from '../report/style.ts';
import { explanationText, subsetPlanText, subsetQuestion, subsetText } from '../report/subset.ts';

interface Arguments {
  target: string;
}

interface Options {
  dryRun?: boolean;
  seed?: number;
  snapshot?: boolean;
  explain?: string;
  undo: boolean;
  cpus?: number;
  unverifiedSources?: boolean;
}

export async function run(invocation: Invocation<Arguments, Options>): Promise<Outcome> {
  const { terminal } = invocation;
  const context = await invocation.context();
  const { dryRun = false, explain, ...options } = invocation.options;
  const request: SubsetRequest = { ...invocation.arguments, ...options };
  if (explain !== undefined) {
    const explanation = await explainSubset(context, { ...request, row: explain });
    return { data: explanation, text: explanationText(explanation) };
  }
  const planned = await planSubset(context, request, { count: dryRun });
  const { plan } = planned;
  if (dryRun) {
    const style = createStyle({ color: terminal.stdout.color, unicode: terminal.unicode });
    return { data: { dry_run: true, plan }, text: subsetPlanText(plan, { columns: terminal.stdout.columns(), style }) };
  }
  await invocation.confirm(subsetQuestion(plan));
  const result = await subset(context, planned);
  return { data: result, text: subsetText(result) };
}
