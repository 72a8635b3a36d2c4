import { type ProgressWords, progressWords, stepTime } from '../../presentation/progress.ts';
import type { Glyphs } from '../../presentation/shapes/glyphs.ts';
import { redact } from '../../process/redact.ts';
import type { RunStep } from '../../state/run-step.ts';
import { printable } from '../../text/printable.ts';
import { cellWidth, cut } from '../../text/text-width.ts';
import { createPlainPrinter, type PlainOptions } from './plain.ts';
import type { Printer } from './printer.ts';
import type { Style } from './style.ts';

export interface LiveOptions extends PlainOptions {
  /** The terminal's width now. */
  columns: () => number;
}

const REDRAW_EVERY_MS = 100;
const BAR_CELLS = 10;
const NARROWEST_HEAD = 12;
const CLEAR_LINE = '\r\x1b[K';

/** Extends the plain printer by a line below its lines that is redrawn in place while a step is running. */
export function createLivePrinter(options: LiveOptions): Printer {
  let drawn = false;
  let timer: NodeJS.Timeout | null = null;
  const plain = createPlainPrinter({
    ...options,
    everyMs: null,
    write(text) {
      clear();
      options.write(text);
    },
  });

  function clear(): void {
    if (drawn) options.write(CLEAR_LINE);
    drawn = false;
  }

  function draw(): void {
    const running = plain.state().steps.findLast(({ state }) => state === 'running');
    if (!running) {
      stop();
      return;
    }
    // One cell short: a line that fills the width would make some terminals wrap.
    const width = options.columns() - 1;
    const shown = statusLine(running, { now: options.clock().getTime(), style: options.style, width });
    options.write(CLEAR_LINE + options.style.paint('accent', shown));
    drawn = true;
    timer ??= setInterval(draw, REDRAW_EVERY_MS);
  }

  function stop(): void {
    clear();
    if (timer) clearInterval(timer);
    timer = null;
  }

  return {
    report(event) {
      plain.report(event);
      if (event.event !== 'progress') draw();
    },
    end(fate) {
      stop();
      plain.end(fate);
    },
  };
}

/** `● Dump 25 tables  ████░░░░ 42%  12.3 MB of 29.1 MB  5.2 MB/s  2.4 s  3.2 s left  public.orders` */
export function statusLine(
  step: RunStep,
  { now, style: { glyphs }, width }: { now: number; style: Style; width: number },
): string {
  const head = `${glyphs.running} ${printable(redact(step.label))}`;
  const progress = step.progress && progressWords(step.progress, now);
  const time = stepTime(step, now);
  const facts = joined(
    progress ? [barOf(progress, glyphs), progress.amount, progress.rate, time, progress.remaining] : [time],
  );
  const whole = joined([head, facts, progress?.current ? printable(progress.current) : null]);
  if (cellWidth(whole) <= width) return whole;
  // Where room is short, figures that change say more than a label that does not.
  const room = Math.max(NARROWEST_HEAD, width - cellWidth(facts) - 2);
  return cut(`${cut(head, room, glyphs.ellipsis)}  ${facts}`, width, glyphs.ellipsis);
}

function barOf({ share, percent }: ProgressWords, { barFull, barEmpty }: Glyphs): string | null {
  if (share === null) return null;
  const full = Math.floor(share * BAR_CELLS);
  return `${barFull.repeat(full)}${barEmpty.repeat(BAR_CELLS - full)} ${percent}`;
}

function joined(parts: (string | null)[]): string {
  return parts.filter((part) => part !== null).join('  ');
}
