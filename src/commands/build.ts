import { defineCommand } from '../cli/command.ts';
import { requestOf, runPlanned } from '../cli/run-planned.ts';
import { SUMMARY } from '../cli/summary-file.ts';
import { ALLOW_SUPERUSER, CPUS, NO_PUSH, TARGET } from './shared-options.ts';

export const buildCommand = defineCommand({
  name: 'build',
  summary: "build a snapshot of a target's source database",
  group: 'Snapshots',
  arguments: [TARGET],
  options: [
    { flags: '--note <text>', description: 'note of the snapshot' },
    { flags: '--no-sanitize', description: 'do not sanitize, even if the target has a query' },
    NO_PUSH,
    ALLOW_SUPERUSER,
    { flags: '--full', description: 'read all rows, also unchanged ones' },
    { flags: '--include-needed-schemas', description: 'include schemas that the chosen ones require' },
    {
      flags: '--exclude-rows <tables>',
      description: 'never read the rows of these tables; comma-separated, repeatable, * matches any characters',
      repeatable: true,
    },
    {
      flags: '--nullify',
      description: 'with --exclude-rows: make references to these tables NULL in the snapshot',
    },
    { flags: '--verify-restore', description: 'restore the snapshot into a throw-away database, as a proof' },
    SUMMARY,
    CPUS,
  ],
  examples: [
    { command: 'tool build app', does: 'build a snapshot of the source' },
    { command: 'tool build app --note "before the migration"', does: 'build with a note' },
    {
      command: 'tool build --from postgres://db/shop',
      does: 'build without a configuration',
    },
    { command: 'tool build app --summary build.md', does: 'build with a summary for a merge request' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { buildOperation } = await import('../operations/build/operation.ts');
    const { coverageText } = await import('../cli/printers/lists.ts');
    const { summaryText } = await import('../presentation/shapes/summary.ts');
    const { builtSummary } = await import('../operations/build/text.ts');
    const { restoredText } = await import('../operations/snapshots/transfer/transfer-text.ts');
    return runPlanned(invocation, buildOperation, {
      request: requestOf(invocation),
      text: (result, plan) => {
        const built = summaryText(builtSummary(plan.target, result.snapshot));
        const proved = result.restore ? [`The snapshot ${restoredText(result.restore)}`] : [];
        if (!result.coverage) return [built, ...proved].join('\n');
        const coverage = coverageText(result.coverage, invocation.tableOptions());
        return [built, summaryText(buildOperation.summary(result, plan)), coverage, ...proved].join('\n');
      },
      summary: ({ snapshot, sanitized, coverage, restore }, { target }) => ({
        ...{ target, snapshot },
        ...(restore && { restore }),
        ...(sanitized && { sanitized }),
        ...(coverage && { coverage }),
      }),
    });
  },
});
