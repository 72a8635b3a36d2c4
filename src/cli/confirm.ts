import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import type { Question } from '../report/question.ts';
import { EXIT, UserError } from '../runtime/errors.ts';
import { printable } from '../text/printable.ts';

export interface Asking {
  /** `--yes`, TOOL_NO_CONFIRM or CI. */
  assumeYes: boolean;
  canAsk: boolean;
  input: Readable;
  output: Writable;
  signal: AbortSignal;
}

/** Returns after a yes; any other answer is a no. */
export async function confirm(question: Question, asking: Asking): Promise<void> {
  if (asking.assumeYes) return;
  if (!asking.canAsk) throw refused(`Not confirmed: ${question.ask} Nobody can be asked without a terminal.`);
  asking.output.write(`${question.plan.map((line) => printable(line)).join('\n')}\n`);
  const wanted = question.typed === undefined ? 'y/N' : `type ${question.typed} to go on`;
  const answer = (await ask(printable(`${question.ask} [${wanted}] `), asking)).trim();
  const yes = question.typed === undefined ? /^y(es)?$/i.test(answer) : answer === question.typed;
  if (!yes) throw refused('Not confirmed; nothing was changed.');
}

/** Uses the terminal's line mode, so that Ctrl-C stays a signal. */
export async function ask(
  prompt: string,
  { input, output, signal }: Pick<Asking, 'input' | 'output' | 'signal'>,
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

function refused(message: string): UserError {
  return new UserError(message, {
    code: 'not_confirmed',
    exit: EXIT.refused,
    hint: 'Pass --yes, or set TOOL_NO_CONFIRM=true, to go on without a question. --dry-run shows the plan.',
  });
}
