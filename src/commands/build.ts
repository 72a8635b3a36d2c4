import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import type { SanitizeRequest } from '../operations/sanitize/sanitize.ts';
import { CPUS, INCLUDE_NEEDED_SCHEMAS, TARGET, UNVERIFIED_SOURCES } from './shared-options.ts';
import { openSummary, SUMMARY } from './summary-file.ts';

const specification = {
  name: 'build',
  summary: "build a snapshot of a target's source database",
  group: 'Snapshots',
  arguments: [TARGET],
  options: [
    { flags: '--note <text>', description: 'note of the snapshot' },
    {
      flags: '--program',
      description: 'dump with mysqldump instead of the driver (MySQL, MariaDB)',
    },
    { flags: '--sanitize', description: 'fail when the target has no sanitization query' },
    { flags: '--no-sanitize', description: 'do not sanitize, even if the target has a query' },
    { flags: '--no-push', description: 'do not push, even if a storage_profile is set' },
    {
      flags: '--allow-superuser',
      description: 'restore and run the query as the user, not as a restricted temporary one',
    },
    INCLUDE_NEEDED_SCHEMAS,
    UNVERIFIED_SOURCES,
    SUMMARY,
    CPUS,
  ],
  examples: [
    { command: 'tool build app', does: 'build a snapshot of the source' },
    { command: 'tool build app --note "before the migration"', does: 'build with a note' },
    { command: 'tool build app --summary build.md', does: 'build with a summary for a merge request' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const buildCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { builtSummary } = await import('../presentation/snapshot.ts');
  const { summaryText } = await import('../presentation/shapes/summary.ts');
  const { build } = await import('../operations/build.ts');
  const { hasSanitizeQuery } = await import('../operations/sanitize/sanitize.ts');
  const { target } = invocation.arguments;
  const {
    sanitize: wanted = true,
    push,
    note,
    program,
    cpus,
    allowSuperuser,
    unverifiedSources,
    includeNeededSchemas,
  } = invocation.options;
  const context = await invocation.context();
  const parallel = cpus === undefined ? {} : { cpus };
  const asked = {
    ...(note !== undefined && { note }),
    ...(program && { program }),
    ...(includeNeededSchemas && { includeNeededSchemas }),
  };
  if (wanted && (invocation.options.sanitize || hasSanitizeQuery(context, target))) {
    return buildAndSanitize(invocation, {
      ...{ target, build: asked, push, ...parallel },
      ...(allowSuperuser && { allowSuperuser }),
      ...(unverifiedSources && { unverifiedSources }),
    });
  }
  const summary = await openSummary(invocation, context);
  const snapshot = await build(context, { target, push, ...asked, ...parallel });
  await summary?.write({ target, snapshot });
  return { data: { snapshot }, text: summaryText(builtSummary(target, snapshot)) };
}

/** Asks before the build: the sanitized database may replace one. */
async function buildAndSanitize(
  invocation: InvocationOf<typeof specification>,
  request: SanitizeRequest,
): Promise<Outcome> {
  const { coverageText } = await import('../cli/printers/lists.ts');
  const { sanitizeQuestion, sanitizeSummary } = await import('../presentation/sanitize.ts');
  const { builtSummary } = await import('../presentation/snapshot.ts');
  const { summaryText } = await import('../presentation/shapes/summary.ts');
  const { applySanitize, planSanitize } = await import('../operations/sanitize/sanitize.ts');
  const { confirm, tableOptions } = invocation;
  const context = await invocation.context();
  const summary = await openSummary(invocation, context);
  const planned = await planSanitize(context, request);
  if (planned.plan.destination?.exists) await confirm(sanitizeQuestion(planned.plan, context.clock()));
  const result = await applySanitize(context, planned);
  const { snapshot: sanitized, original: snapshot, ...rest } = result;
  await summary?.write({ target: request.target, snapshot, sanitized, coverage: result.coverage });
  const summaries = [builtSummary(request.target, snapshot), sanitizeSummary(result, request.target)];
  return {
    data: { snapshot, sanitized, ...rest },
    text: [...summaries.map(summaryText), coverageText(result.coverage, tableOptions())].join('\n'),
  };
}
