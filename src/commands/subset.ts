import { resolve } from 'node:path';
import { defineCommand } from '../cli/command.ts';
import { runPlanned } from '../cli/run-planned.ts';
import { SUMMARY } from '../cli/summary-file.ts';
import type { SubsetRequest } from '../operations/subset/subset-setting.ts';
import { ALLOW_SUPERUSER, CPUS, DRY_RUN, TARGET } from './shared-options.ts';

export const subsetCommand = defineCommand({
  name: 'subset',
  summary: 'create a small database without dangling references',
  group: 'Snapshots',
  arguments: [TARGET],
  options: [
    { ...DRY_RUN, description: 'print the plan with the rows of each table, change nothing' },
    {
      flags: '--seed <n>',
      description: 'seed for choosing rows by percentage; default 1',
      value: 'count',
    },
    { flags: '--snapshot', description: 'also store the subset as a snapshot' },
    { flags: '--suggest', description: 'print suggested settings with their rows, and store nothing' },
    { flags: '--explain <row>', description: 'explain why schema.table:key is in the subset' },
    {
      flags: '--graph <file>',
      description: 'write tables and references as a Mermaid chart (.mmd)',
    },
    ALLOW_SUPERUSER,
    { flags: '--no-undo', description: 'keep no undo copy' },
    SUMMARY,
    CPUS,
  ],
  examples: [
    { command: 'tool subset app --dry-run', does: 'print the rows of each table and their paths' },
    { command: 'tool subset app --snapshot', does: 'create the subset and a snapshot of it' },
    { command: 'tool subset app --explain public.orders:17', does: 'explain why this order is included' },
    { command: 'tool subset app --graph subset.mmd', does: 'draw the tables and references' },
    { command: 'tool subset app --suggest', does: 'print settings for the configuration' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { dryRun = false, suggest, explain, graph, summary: _, ...options } = invocation.options;
    const request: SubsetRequest = { ...invocation.arguments, ...options };
    if (suggest) {
      const { suggestSubsetSettings } = await import('../operations/subset/suggest-subset.ts');
      const { subsetSuggestionText } = await import('../operations/subset/text.ts');
      const suggestion = await suggestSubsetSettings(await invocation.context(), request);
      return { data: suggestion, text: subsetSuggestionText(suggestion) };
    }
    if (explain !== undefined) {
      const { explainSubset } = await import('../operations/subset/explain-subset.ts');
      const { explanationText } = await import('../operations/subset/text.ts');
      const explanation = await explainSubset(await invocation.context(), { ...request, row: explain });
      return { data: explanation, text: explanationText(explanation) };
    }
    if (graph !== undefined) {
      const { writeSubsetGraph } = await import('../operations/subset/subset-graph.ts');
      const { graphText } = await import('../operations/subset/text.ts');
      const file = resolve(invocation.cwd, graph);
      const result = await writeSubsetGraph(await invocation.context(), { ...request, file });
      return { data: result, text: graphText(result) };
    }
    const { subsetOperation } = await import('../operations/subset/operation.ts');
    const { subsetPlanText } = await import('../cli/printers/lists.ts');
    return runPlanned(invocation, subsetOperation, {
      request: { ...request, count: dryRun },
      planText: (plan) => subsetPlanText(plan, invocation.tableOptions()),
      summary: ({ snapshot, tables }, { target }) => ({
        ...{ target, snapshot },
        ...(snapshot === null && { tables: tables.map((table) => ({ ...table, bytes: null })) }),
      }),
    });
  },
});
