import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import type { SanitizeRequest } from '../operations/sanitize/sanitize.ts';
import {
  ALLOW_UNTRUSTED,
  CPUS,
  DRY_RUN,
  INCLUDE_NEEDED_SCHEMAS,
  needsBuild,
  SNAPSHOT,
  TARGET,
  toSelector,
  UNVERIFIED_SOURCES,
} from './shared-options.ts';
import { openSummary, SUMMARY } from './summary-file.ts';

const specification = {
  name: 'sanitize',
  summary: 'run the sanitization query on a copy of a snapshot, and store the result',
  group: 'Snapshots',
  arguments: [TARGET, SNAPSHOT],
  options: [
    { flags: '-n, --new', description: 'build a snapshot first' },
    { ...INCLUDE_NEEDED_SCHEMAS, description: `with --new: ${INCLUDE_NEEDED_SCHEMAS.description}` },
    { flags: '-e, --ephemeral', description: 'use a throw-away database, as without sanitize.dst_url' },
    { flags: '--strict', description: 'fail while columns that look like personal data are unchanged' },
    {
      flags: '--allow-superuser',
      description: 'restore and run the query as the user, not as a restricted temporary one',
    },
    { flags: '--suggest', description: 'print a suggested query, and store nothing' },
    DRY_RUN,
    { flags: '--no-undo', description: 'keep no undo copy' },
    { flags: '--no-push', description: 'do not push, even if a storage_profile is set' },
    UNVERIFIED_SOURCES,
    ALLOW_UNTRUSTED,
    SUMMARY,
    CPUS,
  ],
  examples: [
    { command: 'tool sanitize app', does: 'sanitize the newest snapshot' },
    {
      command: 'tool sanitize app --dry-run',
      does: 'print the query, its statements and its database',
    },
    { command: 'tool sanitize app --suggest', does: 'print a query to review and edit' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const sanitizeCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { coverageText } = await import('../cli/printers/lists.ts');
  const { questionLines } = await import('../cli/printers/question.ts');
  const { sanitizeQuestion, sanitizeSummary } = await import('../presentation/sanitize.ts');
  const { summaryText } = await import('../presentation/shapes/summary.ts');
  const { applySanitize, planSanitize } = await import('../operations/sanitize/sanitize.ts');
  const { suggest } = await import('../operations/sanitize/suggest.ts');
  const { options, confirm } = invocation;
  const context = await invocation.context();
  const request = toRequest(invocation);
  if (options.suggest) {
    const suggestion = await suggest(context, request);
    return { data: suggestion, text: suggestion.query };
  }
  const planned = await planSanitize(context, request);
  const { plan } = planned;
  const question = sanitizeQuestion(plan, context.clock());
  if (options.dryRun) return { data: { dry_run: true, plan }, text: questionLines(question).join('\n') };
  if (plan.destination?.exists) await confirm(question);
  const summaryFile = await openSummary(invocation, context);
  const result = await applySanitize(context, planned);
  await summaryFile?.write({ target: plan.target, snapshot: result.snapshot, coverage: result.coverage });
  const summary = summaryText(sanitizeSummary(result, plan.target));
  return { data: result, text: `${summary}\n${coverageText(result.coverage, invocation.tableOptions())}` };
}

function toRequest({ arguments: { target, snapshot }, options }: InvocationOf<typeof specification>): SanitizeRequest {
  const { new: buildFirst, suggest: _, dryRun: __, summary: ___, includeNeededSchemas, ...passed } = options;
  if (includeNeededSchemas && !buildFirst) throw needsBuild('sanitize', '--new');
  return {
    target,
    ...passed,
    ...(snapshot !== undefined && { snapshot: toSelector(snapshot) }),
    ...(buildFirst && { build: includeNeededSchemas ? { includeNeededSchemas } : {} }),
  };
}
