import type { HistoryEntry } from '../../results/history-results.ts';
import type { Context } from '../../runtime/context.ts';
import { toUserError } from '../../runtime/errors.ts';
import type { ExpectedStep } from '../../state/overall-progress.ts';
import { appendHistory } from './history-file.ts';
import { timeSteps, withExpectedTimes } from './step-times.ts';

type Known = Pick<HistoryEntry, 'operation' | 'target'> & Partial<Facts>;
type Facts = Pick<
  HistoryEntry,
  | 'snapshot'
  | 'save'
  | 'sanitized'
  | 'from'
  | 'to'
  | 'branches'
  | 'method'
  | 'after_load'
  | 'replaced_at'
  | 'size_bytes'
  | 'swap_ms'
>;

interface RecordedWork<Result> {
  work: (context: Context) => Promise<Result>;
  facts?: (result: Result) => Partial<Facts>;
  /** The steps as the content lets expect them. */
  steps?: (result: Result) => ExpectedStep[];
}

/** Keeps an operation in the history, with its outcome and the times of the steps that `work` reports in its context. A history that cannot be written is a warning. */
export async function recorded<Result>(
  context: Context,
  known: Known,
  { work, facts = () => ({}), steps: expected = () => [] }: RecordedWork<Result>,
): Promise<Result> {
  const began = context.clock();
  const { timed, times } = timeSteps(context);
  const keep = async (
    outcome: HistoryEntry['outcome'],
    error: string | null,
    found: Partial<Facts> & Pick<HistoryEntry, 'steps'> = {},
  ) => {
    const duration_ms = Math.max(0, context.clock().getTime() - began.getTime());
    const nothing = { snapshot: null, sanitized: null, from: null, to: null, method: null, size_bytes: null };
    const said = { ...nothing, branches: [], swap_ms: null, ...known, ...found };
    const hide = (text: string | null) => (text === null ? null : (context.hide?.(text) ?? text));
    const steps = found.steps ?? times();
    const entry = { ...said, from: hide(said.from), to: hide(said.to), ...(steps.length > 0 && { steps }) };
    try {
      await appendHistory(context, { at: began.toISOString(), outcome, error, duration_ms, ...entry });
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      const message = `The history cannot be written: ${reason}`;
      context.report({ event: 'warning', code: 'history_not_written', message });
    }
  };
  let result: Result;
  try {
    result = await work(timed);
  } catch (thrown) {
    await keep(context.signal.aborted ? 'cancelled' : 'failed', toUserError(thrown).code);
    throw thrown;
  }
  await keep('done', null, { ...facts(result), steps: withExpectedTimes(times(), expected(result)) });
  return result;
}
