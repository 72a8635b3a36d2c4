import { dirname } from 'node:path';
import type { Configuration } from '../../config/configuration.ts';
import { firstFile } from '../../config/paths.ts';
import type { AfterLoadStep } from '../../config/schema/after-load.ts';
import type { DatabaseUrl } from '../../engines/database-url.ts';
import { openDatabase } from '../../engines/open-database.ts';
import { redact } from '../../process/redact.ts';
import { runGroup } from '../../process/run-group.ts';
import type { AfterLoad, LoadPlan } from '../../results/load-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { withStep } from '../../runtime/events.ts';
import { assertTrustedContent } from '../../sanitize/query.ts';
import { formatDuration, formatNumberOf } from '../../text/format.ts';
import { commandText } from '../../text/shell-word.ts';
import { planOutdated } from '../planned.ts';
import { findTarget } from '../targets/find-target.ts';
import { commandEnvironment, hiddenOutput } from './script/database-command.ts';

export interface AfterLoadChoice {
  target: string;
  /** `false` leaves the steps of the target out. Default `true`. */
  afterLoad?: boolean | undefined;
}

/** The configured steps of a load, for its plan; absent where there are none. */
export function plannedAfterLoad(configuration: Configuration, choice: AfterLoadChoice): AfterLoad[] | undefined {
  const steps = stepsOf(configuration, choice);
  return steps.length === 0 ? undefined : steps.map(describeStep);
}

/** A target of the hub has no steps: its settings have no such key. */
export function stepsOf(configuration: Configuration, { target, afterLoad = true }: AfterLoadChoice): AfterLoadStep[] {
  const { after_load = [] } = findTarget(configuration, target).snapshot ?? {};
  return afterLoad && !configuration.cloud?.has(target) ? after_load : [];
}

function describeStep({ command, query_file, timeout }: AfterLoadStep): AfterLoad {
  return command === undefined
    ? { kind: 'query_file', run: query_file ?? '', timeout_s: timeout }
    : { kind: 'command', run: redact(commandText(command)), timeout_s: timeout };
}

/** Parses the SQL files, so that a mistake in one is found before anything is restored. */
export async function checkAfterLoad(context: Context, choice: AfterLoadChoice, url: DatabaseUrl): Promise<void> {
  for (const { query_file: file } of stepsOf(context.configuration, choice)) {
    if (file === undefined) continue;
    if ((await firstFile([file])) === null) throw stepFileMissing(file);
    await assertTrustedContent(file, context);
    await openDatabase(context, url).restore.checkScript(file);
  }
}

function stepFileMissing(file: string): UserError {
  return new UserError('query_file_not_found', `The SQL file of a step of after_load is missing: ${file}`, {
    hint: 'A relative path starts at the folder of the configuration file.',
  });
}

interface AfterLoadRun {
  choice: AfterLoadChoice;
  planned: LoadPlan['after_load'];
  /** For files of the run. */
  directory: string;
}

/** Returns what runs the steps in a shadow database; `undefined` where there are none. Refuses other steps than planned. */
export function afterLoadRunner(
  context: Context,
  { choice, planned, directory }: AfterLoadRun,
): ((url: DatabaseUrl) => Promise<void>) | undefined {
  const steps = stepsOf(context.configuration, choice);
  if (JSON.stringify(steps.map(describeStep)) !== JSON.stringify(planned ?? []))
    throw planOutdated(`The steps of targets.${choice.target}.snapshot.after_load have changed`);
  if (steps.length === 0) return undefined;
  return async (url) => {
    for (const [index, step] of steps.entries()) {
      const { run } = describeStep(step);
      const what = { name: `${index + 1} of ${steps.length} of after_load`, run, seconds: step.timeout, url };
      const { label, done } = { label: `Run step ${what.name}: ${run}`, done: `Ran step ${what.name}` };
      await withStep(context.report, { step: 'after_load', label, done }, () =>
        withTimeout(context, what, (limited) =>
          step.command === undefined
            ? runQueryFile(limited, what, { file: step.query_file ?? '', directory })
            : runCommand(limited, what, step.command),
        ),
      );
    }
  };
}

interface RunningStep {
  name: string;
  run: string;
  seconds: number;
  /** The shadow database. */
  url: DatabaseUrl;
}

async function withTimeout(
  context: Context,
  { name, run, seconds }: RunningStep,
  work: (context: Context) => Promise<void>,
): Promise<void> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new DOMException('too long', 'TimeoutError')), seconds * 1000);
  try {
    await work({ ...context, signal: AbortSignal.any([context.signal, limit.signal]) });
  } catch (cause) {
    context.signal.throwIfAborted();
    if (!limit.signal.aborted) throw cause;
    throw new UserError(
      'after_load_failed',
      `Step ${name} took longer than ${formatDuration(seconds * 1000)} and was ended: ${run}`,
      {
        hint: `${UNCHANGED} Give the step a longer timeout (seconds), or load without the steps: --no-after-load.`,
        cause,
      },
    );
  } finally {
    clearTimeout(timer);
  }
}

const UNCHANGED = 'The destination is unchanged.';
const WITHOUT = `${UNCHANGED} Fix the step and load again, or load without the steps: --no-after-load.`;

async function runQueryFile(
  context: Context,
  { name, run, url }: RunningStep,
  { file, directory }: { file: string; directory: string },
): Promise<void> {
  await assertTrustedContent(file, context);
  const { restore } = openDatabase({ ...context, report: () => {} }, url);
  await restore.runScript({ file, asItIs: true, undo: false, directory }).catch((cause) => {
    if (!(cause instanceof UserError) || context.signal.aborted) throw cause;
    const details = [cause.message, ...cause.details];
    throw new UserError('after_load_failed', `Step ${name} failed: ${run}`, { details, hint: WITHOUT, cause });
  });
}

const SHOWN_LINES = 20;

async function runCommand(context: Context, { name, run, url }: RunningStep, command: string | string[]) {
  const { signal, report } = context;
  const cwd = dirname(context.configuration.file ?? '.');
  const environment = commandEnvironment(context, url);
  const { exitCode, output } = await runGroup({ command, cwd, environment, signal, report });
  if (exitCode === 0) return;
  const lines = hiddenOutput(context, url, output)
    .trimEnd()
    .split(/\r\n|\n|\r/);
  const ended = exitCode === null ? 'was ended by a signal' : `failed with exit code ${exitCode}`;
  throw new UserError('after_load_failed', `Step ${name} ${ended}: ${run}`, {
    details: [
      ...(lines.length > SHOWN_LINES ? [`the last ${formatNumberOf(SHOWN_LINES, 'line')} of its output:`] : []),
      ...lines.slice(-SHOWN_LINES),
    ],
    hint: WITHOUT,
  });
}
