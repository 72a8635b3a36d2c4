import type { Operation } from '../operations/operation.ts';
import type { Planned } from '../operations/planned.ts';
import type { CommandOutcome, Invocation } from './command.ts';
import { openSummary, type SummaryFile } from './summary-file.ts';

interface PlannedRun<Request, Plan, Result> {
  request: Request;
  /** Default: the question as lines. */
  planText?: (plan: Plan) => string | Promise<string>;
  /** Default: the summary as lines. */
  text?: (result: Result, plan: Plan) => string | Promise<string>;
  /** Written to the file of `--summary`. */
  summary?: (result: Result, plan: Plan) => Parameters<SummaryFile['write']>[0];
}

type PlannedInvocation = Pick<Invocation<unknown, { dryRun?: boolean; summary?: string }>, 'options' | 'cwd'> &
  Pick<Invocation, 'context' | 'confirm' | 'tableOptions'>;

/** Plans, prints the plan for `--dry-run`, asks, applies, and returns the result with its summary. */
export async function runPlanned<Request, P extends Planned<Request, object>, Result extends object>(
  invocation: PlannedInvocation,
  operation: Operation<Request, P, Result>,
  { request, planText, text, summary }: PlannedRun<NoInfer<Request>, P['plan'], Result>,
): Promise<CommandOutcome> {
  const { questionLines } = await import('./printers/question.ts');
  const { summaryText } = await import('../presentation/shapes/summary.ts');
  const context = await invocation.context();
  const { plan: makePlan, apply } = await operation.work();
  const planned = await makePlan(context, request);
  const plan: P['plan'] = planned.plan;
  const question = operation.question(plan, context.clock());
  if (invocation.options.dryRun) {
    return {
      data: { dry_run: true, plan },
      text: (await planText?.(plan)) ?? questionLines(question, invocation.tableOptions().columns).join('\n'),
    };
  }
  if (operation.asks?.(plan) ?? true) await invocation.confirm(question);
  const file = summary ? await openSummary(invocation, context) : null;
  const result = await apply(context, planned);
  if (summary) await file?.write(summary(result, plan));
  return { data: result, text: (await text?.(result, plan)) ?? summaryText(operation.summary(result, plan)) };
}

/** The arguments and options as a request, without those that `runPlanned` handles. */
export function requestOf<Arguments extends object, Options extends { dryRun?: boolean; summary?: string }>({
  arguments: given,
  options: { dryRun: _, summary: __, ...options },
}: {
  arguments: Arguments;
  options: Options;
}) {
  return { ...given, ...options };
}
