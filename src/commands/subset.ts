import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import type { SubsetRequest } from '../operations/subset/subset-setting.ts';
import { CPUS, DRY_RUN, INCLUDE_NEEDED_SCHEMAS, needsBuild, TARGET, UNVERIFIED_SOURCES } from './shared-options.ts';
import { openSummary, SUMMARY } from './summary-file.ts';

const specification = {
  name: 'subset',
  summary: 'make a small database in which every reference holds',
  group: 'Snapshots',
  arguments: [TARGET],
  options: [
    { ...DRY_RUN, description: 'print the plan, with the rows that each table would get; change nothing' },
    {
      flags: '--seed <n>',
      description: 'choose other rows where a percentage is configured; default 1',
      value: 'count',
    },
    { flags: '--snapshot', description: 'store the subset as a snapshot of the target, too' },
    { ...INCLUDE_NEEDED_SCHEMAS, description: `with --snapshot: ${INCLUDE_NEEDED_SCHEMAS.description}` },
    { flags: '--explain <row>', description: 'explain why a row is in the subset: schema.table:key' },
    { flags: '--no-undo', description: 'keep no copy of the database that is replaced' },
    UNVERIFIED_SOURCES,
    SUMMARY,
    CPUS,
  ],
  examples: [
    { command: 'tool subset app --dry-run', does: 'which rows would come, and by which path' },
    { command: 'tool subset app --snapshot', does: 'makes the subset, and a snapshot of it' },
    { command: 'tool subset app --explain public.orders:17', does: 'why this order is in the subset' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const subsetCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { subsetPlanText } = await import('../cli/printers/lists.ts');
  const { explanationText, subsetQuestion, subsetSummary } = await import('../presentation/subset.ts');
  const { summaryText } = await import('../presentation/shapes/summary.ts');
  const { explainSubset } = await import('../operations/subset/explain-subset.ts');
  const { planSubset, applySubset } = await import('../operations/subset/subset.ts');
  const context = await invocation.context();
  const { dryRun = false, explain, summary: _, ...options } = invocation.options;
  if (options.includeNeededSchemas && !options.snapshot) throw needsBuild('subset', '--snapshot');
  const request: SubsetRequest = { ...invocation.arguments, ...options };
  if (explain !== undefined) {
    const explanation = await explainSubset(context, { ...request, row: explain });
    return { data: explanation, text: explanationText(explanation) };
  }
  const planned = await planSubset(context, { ...request, count: dryRun });
  const { plan } = planned;
  if (dryRun) {
    return { data: { dry_run: true, plan }, text: subsetPlanText(plan, invocation.tableOptions()) };
  }
  await invocation.confirm(subsetQuestion(plan));
  const summary = await openSummary(invocation, context);
  const result = await applySubset(context, planned);
  const tables = result.tables.map((one) => ({ ...one, bytes: null }));
  await summary?.write({ target: plan.target, snapshot: result.snapshot, ...(result.snapshot === null && { tables }) });
  return { data: result, text: summaryText(subsetSummary(plan, result)) };
}
