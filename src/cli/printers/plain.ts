import { servingLines } from '../../operations/branch/serve/text.ts';
import { serverUrl } from '../../operations/servers/up/text.ts';
import { signInPrompt } from '../../operations/sign-in/text.ts';
import { progressWords, STEP_MARKS, stepTime } from '../../presentation/progress.ts';
import { redact } from '../../process/redact.ts';
import type { CommandEndedEvent } from '../../results/events.ts';
import { foldRun, type RunState, startRun } from '../../state/run.ts';
import type { RunStep } from '../../state/run-step.ts';
import { formatDuration } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import type { Printer } from './printer.ts';
import type { Style } from './style.ts';

export interface PlainOptions {
  /** Writes to standard error: standard output is for results. */
  write: (text: string) => void;
  style: Style;
  clock: () => Date;
  /** Reports whether executed commands are printed as well. */
  debug: () => boolean;
  /** Milliseconds between the lines about a step that runs; `null` for none. */
  everyMs?: number | null;
}

/** Prints a line for each step when it ends, a line every 30 s while it runs, and warnings as they come. */
export function createPlainPrinter({
  write,
  style,
  clock,
  debug,
  everyMs = 30_000,
}: PlainOptions): Printer & { state: () => RunState } {
  const now = () => clock().getTime();
  let state = startRun(now());
  let timer: NodeJS.Timeout | undefined;
  const writeProgress = (): void => {
    for (const step of state.steps) if (step.state === 'running') write(`${progressLine(step, style, now())}\n`);
  };
  return {
    state: () => state,
    report(event) {
      state = foldRun(state, event, now());
      if (everyMs !== null) timer ??= setInterval(writeProgress, everyMs).unref();
      switch (event.event) {
        case 'step': {
          const step = state.steps.findLast((other) => other.step === event.step);
          if (step && event.state !== 'started') write(`${stepLine(step, style)}\n`);
          break;
        }
        case 'warning':
          write(`${style.paint('caution', 'warning:')} ${shown(event.message)}\n`);
          break;
        case 'command':
          if (debug()) write(`${style.paint('dim', `$ ${shown(event.command)}`)}\n`);
          break;
        case 'command_ended':
          if (debug()) write(`${style.paint('dim', endedLine(event))}\n`);
          break;
        case 'sign_in':
          write(`${signInPrompt(event)}\n`);
          break;
        case 'serving':
          write(`${servingLines(event).join('\n')}\n`);
          break;
        case 'server':
          write(`${serverUrl(event)}\n`);
          break;
        case 'progress':
        case 'statement':
          break;
        default:
          event satisfies never;
      }
    },
    end(fate) {
      clearInterval(timer);
      if (fate === 'done') return;
      for (const step of state.steps) {
        if (step.state === 'running') write(`${stepLine({ ...step, state: 'failed', endedAt: now() }, style)}\n`);
      }
    },
  };
}

/** `$ pg_dump ended with 0, 1.2 s`: which one it was is said by its first word, since several run at once. */
function endedLine({ command, exit, duration_ms }: CommandEndedEvent): string {
  const [file = ''] = shown(command).split(' ');
  return `$ ${file} ended with ${exit ?? 'a signal'}, ${formatDuration(duration_ms)}`;
}

function stepLine(step: RunStep, { paint, glyphs }: Style): string {
  const { glyph, tone } = STEP_MARKS[step.state];
  return `${paint(tone, glyphs[glyph])} ${shown(step.label)} ${paint('dim', stepTime(step, step.startedAt))}`;
}

/** `● Read the rows: 1.2 GB of 4.8 GB, 71 MB/s, 30 s` */
function progressLine(step: RunStep, { paint, glyphs }: Style, now: number): string {
  const words = step.progress && progressWords(step.progress, now);
  const parts = [words?.amount, words?.rate, stepTime(step, now)].filter((part) => part !== null && part !== undefined);
  return `${paint(STEP_MARKS.running.tone, glyphs.running)} ${shown(step.label)}: ${parts.join(', ')}`;
}

function shown(text: string): string {
  return printable(redact(text));
}
