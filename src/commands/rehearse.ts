import { resolve } from 'node:path';
import { defineCommand } from '../cli/command.ts';
import { runPlanned } from '../cli/run-planned.ts';
import type { RehearseRequest } from '../operations/rehearse/rehearse.ts';
import type { RehearsalResult } from '../results/review/rehearsal-results.ts';
import { EXIT, type ExitCode, UserError } from '../runtime/errors.ts';
import { DESTDB, DRY_RUN, TARGET } from './shared-options.ts';

export const rehearseCommand = defineCommand({
  name: 'rehearse',
  summary: 'run a migration on a branch and report locks, rewrites and changes',
  group: 'Branches',
  arguments: [
    TARGET,
    { name: 'command', description: 'after --; default: the steps of after_load', required: false, variadic: true },
  ],
  options: [
    { flags: '--sql <file>', description: 'run the statements of a file, each by itself' },
    { flags: '--keep', description: 'keep the branch' },
    { flags: '--server', description: 'on a server of its own, as of tool up, instead of a branch' },
    { flags: '--max-lock <time>', description: 'fail if a blocking lock is held longer: 2s', value: 'short duration' },
    { flags: '--max-rewrite <size>', description: 'fail if more is rewritten: 100MB', value: 'size' },
    { flags: '--fail-on <kind>', description: 'fail if a statement is dangerous under load', choices: ['warning'] },
    { flags: '--load <sessions>', description: 'sessions of --load-sql, at most 64', value: 'count' },
    { flags: '--load-sql <file>', description: 'run these statements in sessions meanwhile; default: 4 sessions' },
    { flags: '--summary <file>', description: 'write the report to a Markdown file' },
    DESTDB,
    DRY_RUN,
  ],
  examples: [
    { command: 'tool rehearse app -- npx prisma migrate deploy', does: 'rehearse a migration' },
    { command: 'tool rehearse app --sql add-index.sql --max-lock 2s', does: 'fail if it blocks for more than 2 s' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { rehearseOperation } = await import('../operations/rehearse/operation.ts');
    const { rehearsalMarkdown, verdictText } = await import('../operations/rehearse/text.ts');
    const { checkSummaryFile, writeSummary } = await import('../operations/write-summary.ts');
    const { summaryText } = await import('../presentation/shapes/summary.ts');
    const { markdownText } = await import('../text/markdown.ts');
    const { options, cwd } = invocation;
    const { target, command } = invocation.arguments;
    const { sql, keep, server, destdb, maxLock, maxRewrite, failOn, dryRun, summary, load, loadSql } = options;
    const file = summary === undefined || dryRun ? null : await checkSummaryFile(resolve(cwd, summary));
    const outcomes: RehearsalResult['outcome'][] = [];
    const outcome = await runPlanned(invocation, rehearseOperation, {
      request: {
        ...{ target, keep, server, destdb, cwd, sql: sql === undefined ? undefined : resolve(cwd, sql) },
        command: command && command.length > 0 ? command : undefined,
        workload: workloadOf({ cwd, loadSql, load }),
        limits: {
          ...(maxLock !== undefined && { max_lock_ms: maxLock }),
          ...(maxRewrite !== undefined && { max_rewrite_bytes: maxRewrite }),
          ...(failOn === 'warning' && { fail_on_warning: true }),
        },
      },
      async text(result, plan) {
        outcomes.push(result.outcome);
        if (file !== null) await writeSummary(file, rehearsalMarkdown(result, markdownText));
        return summaryText({ ...rehearseOperation.summary(result, plan), line: verdictText(result) });
      },
    });
    const [ended = 'passed'] = outcomes;
    return { ...outcome, quotes: true, exit: EXITS[ended] };
  },
});

const MOST_SESSIONS = 64;
const DEFAULT_SESSIONS = 4;

interface WorkloadWords {
  cwd: string;
  loadSql: string | undefined;
  load: number | undefined;
}

function workloadOf({ cwd, loadSql, load }: WorkloadWords): RehearseRequest['workload'] {
  if (loadSql === undefined && load === undefined) return undefined;
  if (loadSql === undefined) {
    throw new UserError('usage', '--load requires --load-sql', {
      hint: 'Name the file of the statements: --load-sql FILE',
    });
  }
  const sessions = load ?? DEFAULT_SESSIONS;
  if (sessions > MOST_SESSIONS) {
    throw new UserError('invalid_value', `--load ${sessions} is more than ${MOST_SESSIONS} sessions`, {
      hint: `Use 1 to ${MOST_SESSIONS}.`,
    });
  }
  return { file: resolve(cwd, loadSql), sessions };
}

const EXITS: Record<RehearsalResult['outcome'], ExitCode> = {
  passed: EXIT.done,
  failed: EXIT.failed,
  over_limit: EXIT.refused,
};
