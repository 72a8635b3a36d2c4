import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { notTyped, type Question } from '../presentation/shapes/question.ts';
import { UserError } from '../runtime/errors.ts';
import { printable } from '../text/printable.ts';
import { questionLines } from './printers/question.ts';

export interface ConfirmPromptOptions {
  assumeYes: boolean;
  canAsk: boolean;
  input: Readable;
  output: Writable;
  /** Width of the output; `null` without a terminal. */
  columns: number | null;
  signal: AbortSignal;
  /** Hides the secrets of the run in the plan. */
  hide: (text: string) => string;
}

export async function confirm(question: Question, asking: ConfirmPromptOptions): Promise<void> {
  if (asking.assumeYes) return;
  if (!asking.canAsk) throwUnasked(question.ask);
  const lines = questionLines(question, asking.columns).map(asking.hide);
  asking.output.write(`${lines.join('\n')}\n`);
  const { typed } = question;
  const wanted = typed === null ? '[y/N]' : `${notTyped(typed, '')}:`;
  const answer = (await ask(printable(`${question.ask} ${wanted} `), asking)).trim();
  const yes = typed === null ? /^y(es)?$/i.test(answer) : answer === typed;
  if (!yes) throw refused('Not confirmed. Nothing was changed.');
}

/** Uses the terminal's line mode, so that Ctrl-C stays a signal. */
export async function ask(
  prompt: string,
  { input, output, signal }: Pick<ConfirmPromptOptions, 'input' | 'output' | 'signal'>,
): Promise<string> {
  const lines = createInterface({ input, output, terminal: false });
  try {
    const closed = once(lines, 'close', { signal }).then(() => null);
    const answer = await Promise.race([lines.question(prompt, { signal }), closed]);
    // Ctrl-D ends the input without a line feed.
    if (answer === null) output.write('\n');
    return answer ?? '';
  } catch (thrown) {
    throw signal.aborted ? signal.reason : thrown;
  } finally {
    lines.close();
  }
}

export function throwUnasked(ask?: string): never {
  throw refused(`${ask ?? 'The load creates or replaces a database.'} Cannot prompt: not a terminal.`);
}

function refused(message: string): UserError {
  return new UserError('not_confirmed', message, {
    hint: 'To skip the question, pass --yes or set TOOL_NO_CONFIRM=true. --dry-run shows the plan.',
  });
}
