import type { Context } from '../runtime/context.ts';
import { withOutcome } from '../runtime/errors.ts';
import { shell } from '../text/shell-word.ts';

interface Replacement {
  target: string;
  destination: { database: string; exists: boolean };
  /** Keeps the replaced database for `tool undo`. */
  undo: boolean;
}

/**
 * Does what ends with the step `swap`, and makes an interruption state whether the destination was replaced. Engines
 * state it where the interruption comes in that step.
 */
export async function statingOutcome<Result>(
  context: Context,
  { target, destination: { database, exists }, undo }: Replacement,
  work: (context: Context) => Promise<Result>,
): Promise<Result> {
  let isReplaced = false;
  const report: Context['report'] = (event) => {
    if (event.event === 'step' && event.step === 'swap' && event.state === 'done') isReplaced = true;
    context.report(event);
  };
  try {
    return await work({ ...context, report });
  } catch (error) {
    const previous = undo && exists ? ` To restore the previous one: ${shell`tool undo ${target}`}` : '';
    const before = exists ? `${database} is unchanged.` : `${database} was not created.`;
    throw withOutcome(error, isReplaced ? `${database} is the new database.${previous}` : before);
  }
}
