import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import { runPlanned } from '../cli/run-planned.ts';
import { SUMMARY } from '../cli/summary-file.ts';
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
  const request = toRequest(invocation);
  if (invocation.options.suggest) {
    const { suggest } = await import('../operations/sanitize/suggest.ts');
    const suggestion = await suggest(await invocation.context(), request);
    return { data: suggestion, text: suggestion.query };
  }
  const { sanitizeOperation } = await import('../operations/sanitize/operation.ts');
  const { coverageText } = await import('../cli/printers/lists.ts');
  const { summaryText } = await import('../presentation/shapes/summary.ts');
  return runPlanned(invocation, sanitizeOperation, {
    request,
    text: (result, plan) =>
      [
        summaryText(sanitizeOperation.summary(result, plan)),
        coverageText(result.coverage, invocation.tableOptions()),
      ].join('\n'),
    summary: ({ snapshot, coverage }, { target }) => ({ target, snapshot, coverage }),
  });
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
