import { resolve } from 'node:path';
import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import type { SubsetRequest } from '../operations/subset/subset-setting.ts';
import { EXIT, UserError } from '../runtime/errors.ts';
import { CPUS, DRY_RUN, INCLUDE_NEEDED_SCHEMAS, needsBuild, TARGET, UNVERIFIED_SOURCES } from './shared-options.ts';
import { openSummary, SUMMARY } from './summary-file.ts';

const specification = {
  name: 'subset',
  summary: 'create a small database without dangling references',
  group: 'Snapshots',
  arguments: [TARGET],
  options: [
    { ...DRY_RUN, description: 'print the plan with the rows of each table, change nothing' },
    {
      flags: '--seed <n>',
      description: 'choose other rows for percentages; default 1',
      value: 'count',
    },
    { flags: '--snapshot', description: 'also store the subset as a snapshot' },
    { ...INCLUDE_NEEDED_SCHEMAS, description: `with --snapshot: ${INCLUDE_NEEDED_SCHEMAS.description}` },
    { flags: '--explain <row>', description: 'explain why schema.table:key is in the subset' },
    {
      flags: '--graph <file>',
      description: 'draw tables and references to .svg or .mmd (Mermaid)',
    },
    { flags: '--force', description: 'with --graph: overwrite an existing file' },
    { flags: '--no-undo', description: 'keep no undo copy' },
    UNVERIFIED_SOURCES,
    SUMMARY,
    CPUS,
  ],
  examples: [
    { command: 'tool subset app --dry-run', does: 'print the rows of each table and their paths' },
    { command: 'tool subset app --snapshot', does: 'create the subset and a snapshot of it' },
    { command: 'tool subset app --explain public.orders:17', does: 'explain why this order is included' },
    { command: 'tool subset app --graph subset.svg', does: 'draw the tables and references' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const subsetCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { subsetPlanText } = await import('../cli/printers/lists.ts');
  const { explanationText, graphText, subsetQuestion, subsetSummary } = await import('../presentation/subset.ts');
  const { summaryText } = await import('../presentation/shapes/summary.ts');
  const { explainSubset } = await import('../operations/subset/explain-subset.ts');
  const { planSubset, applySubset } = await import('../operations/subset/subset.ts');
  const { writeSubsetGraph } = await import('../operations/subset/subset-graph.ts');
  const context = await invocation.context();
  const { dryRun = false, explain, graph, force = false, summary: _, ...options } = invocation.options;
  if (options.includeNeededSchemas && !options.snapshot) throw needsBuild('subset', '--snapshot');
  if (force && graph === undefined) throw needsGraph();
  const request: SubsetRequest = { ...invocation.arguments, ...options };
  if (explain !== undefined) {
    const explanation = await explainSubset(context, { ...request, row: explain });
    return { data: explanation, text: explanationText(explanation) };
  }
  if (graph !== undefined) {
    const file = resolve(invocation.cwd, graph);
    const result = await writeSubsetGraph(context, { ...request, file, force });
    return { data: result, text: graphText(result) };
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

function needsGraph(): UserError {
  return new UserError('--force requires --graph', {
    code: 'flag_needs_flag',
    exit: EXIT.usage,
    hint: 'tool subset TARGET --graph FILE --force',
  });
}
