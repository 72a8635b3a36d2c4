import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AfterLoadStep } from '../../config/schema/after-load.ts';
import type { RehearsalObserver } from '../../engines/facets/rehearse.ts';
import { maskValues } from '../../engines/shared/mask-values.ts';
import { redact } from '../../process/redact.ts';
import { runGroup } from '../../process/run-group.ts';
import type { RehearsalPlan, RehearsalResult } from '../../results/review/rehearsal-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { assertTrustedContent } from '../../sanitize/query.ts';
import { commandText, shell } from '../../text/shell-word.ts';
import { stepsOf } from '../load/after-load.ts';
import { commandEnvironment, hiddenOutput } from '../load/script/database-command.ts';

export interface WorkChoice {
  target: string;
  /** A program with its arguments, or a line for the shell. */
  command?: string | string[] | undefined;
  /** Absolute path of an SQL file. */
  sql?: string | undefined;
  /** Instead of a file: its text, and the name for the report. */
  sqlText?: { name: string; text: string } | undefined;
  /** Folder of the command. Default: that of the configuration file. */
  cwd?: string | undefined;
}

export interface FileWork {
  kind: 'sql_file' | 'query_file';
  file: string;
  /** Instead of the content of the file, which is its name only. */
  text?: string;
}

export type Work = { kind: 'command'; command: string | string[]; cwd: string; timeoutS: number | null } | FileWork;

/** The command or the file; without both, the steps of `after_load`. */
export function chooseWorks(context: Context, { target, command, sql, sqlText, cwd }: WorkChoice): Work[] {
  const folder = dirname(context.configuration.file ?? '.');
  if (command && sql !== undefined) {
    throw new UserError('usage', 'A command and --sql exclude each other', { hint: 'Leave one of them out.' });
  }
  if (command) return [{ kind: 'command', command, cwd: cwd ?? folder, timeoutS: null }];
  if (sql !== undefined) return [{ kind: 'sql_file', file: sql }];
  if (sqlText) return [{ kind: 'sql_file', file: sqlText.name, text: sqlText.text }];
  const steps = stepsOf(context.configuration, { target });
  if (steps.length === 0) throw nothingToRehearse(target);
  return steps.map((step: AfterLoadStep): Work => {
    if (step.command === undefined) return { kind: 'query_file', file: step.query_file ?? '' };
    return { kind: 'command', command: step.command, cwd: folder, timeoutS: step.timeout };
  });
}

export function describeWork(work: Work): RehearsalPlan['works'][number] {
  if (work.kind === 'command') return { kind: work.kind, run: redact(commandText(work.command)) };
  return { kind: work.kind, run: work.file };
}

/** Runs it on the observed branch; its failure is a result. */
export async function runWork(
  context: Context,
  work: Work,
  observer: RehearsalObserver,
): Promise<RehearsalResult['works'][number]> {
  const startedAt = performance.now();
  const { exit, failed, output } =
    work.kind === 'command' ? await runCommand(context, work, observer) : await runFile(context, work, observer);
  const duration_ms = Math.round(performance.now() - startedAt);
  return { ...describeWork(work), exit, failed, duration_ms, output: maskValues(output) };
}

async function runCommand(
  context: Context,
  { command, cwd, timeoutS }: Extract<Work, { kind: 'command' }>,
  { url }: RehearsalObserver,
) {
  const limit = timeoutS === null ? [] : [AbortSignal.timeout(timeoutS * 1000)];
  const signal = AbortSignal.any([context.signal, ...limit]);
  const environment = commandEnvironment(context, url);
  const { report } = context;
  try {
    const { exitCode, output } = await runGroup({ command, cwd, environment, signal, report });
    return { exit: exitCode, failed: exitCode !== 0, output: hiddenOutput(context, url, output) };
  } catch (error) {
    context.signal.throwIfAborted();
    if (!signal.aborted) throw error;
    return { exit: null, failed: true, output: `ended after its timeout of ${timeoutS} s` };
  }
}

async function runFile(context: Context, work: FileWork, observer: RehearsalObserver) {
  await using script = await openScript(work);
  await assertTrustedContent(script.file, context);
  try {
    await observer.runFile(script.file, context.signal);
    return { exit: null, failed: false, output: '' };
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof UserError) || error.code !== 'script_failed') throw error;
    return { exit: null, failed: true, output: [error.message, ...error.details].join('\n') };
  }
}

/** The file, or a temporary one of the given text. */
export async function openScript({ file, text }: FileWork): Promise<AsyncDisposable & { file: string }> {
  if (text === undefined) return { file, async [Symbol.asyncDispose]() {} };
  const directory = await mkdtemp(join(tmpdir(), 'tool-rehearsal-'));
  const path = join(directory, 'rehearsal.sql');
  await writeFile(path, text, { mode: 0o600 });
  return { file: path, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}

function nothingToRehearse(target: string): UserError {
  return new UserError('missing_argument', `Target "${target}" has no steps of after_load to rehearse`, {
    hint: `Give a command or a file: ${shell`tool rehearse ${target} -- COMMAND`}, ${shell`tool rehearse ${target} --sql FILE`}`,
  });
}
