import { redact } from '../process/redact.ts';
import { type Progress, paceOf } from '../state/progress.ts';
import { elapsed, type RunStep } from '../state/run.ts';
import { formatBytes, formatCount, formatDuration } from '../text/format.ts';
import { printable } from '../text/printable.ts';
import { cellWidth, cut } from '../text/text-width.ts';
import { createPlainPrinter, type PlainOptions } from './plain.ts';
import type { Printer } from './printer.ts';
import type { Marks, Style } from './style.ts';

export interface LiveOptions extends PlainOptions {
  /** The terminal's width now. */
  columns: () => number;
}

const REDRAW_EVERY_MS = 100;
const BAR_CELLS = 10;
const NARROWEST_HEAD = 12;
const CLEAR_LINE = '\r\x1b[K';

/** As the plain printer, and below its lines one that is redrawn in place while a step is running. */
export function createLivePrinter(options: LiveOptions): Printer {
  let drawn = false;
  let timer: NodeJS.Timeout | null = null;
  const plain = createPlainPrinter({
    ...options,
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

export interface StatusView {
  now: number;
  style: Style;
  width: number;
}

/** `● Dump 25 tables  ████░░░░ 42%  12.3 MB of 29.1 MB  5.2 MB/s  2.4 s  3.2 s left  public.orders` */
export function statusLine(step: RunStep, { now, style: { marks }, width }: StatusView): string {
  const head = `${marks.running} ${printable(redact(step.label))}`;
  const time = formatDuration(elapsed(step, now));
  const facts = (step.progress ? progressFacts(step.progress, { now, time, marks }) : [time]).join('  ');
  const whole = [head, facts, step.progress ? currentOf(step.progress) : ''].join('  ').trimEnd();
  if (cellWidth(whole) <= width) return whole;
  // Where room is short, figures that change say more than a label that does not.
  const room = Math.max(NARROWEST_HEAD, width - cellWidth(facts) - 2);
  return cut(`${cut(head, room, marks.ellipsis)}  ${facts}`, width, marks.ellipsis);
}

function progressFacts(
  progress: Progress,
  { now, time, marks }: { now: number; time: string; marks: Marks },
): string[] {
  const { done, total, unit, bytes } = progress;
  const { rate, remainingMs, share } = paceOf(progress, now);
  return [
    share === null ? '' : `${bar(share, marks)} ${Math.floor(share * 100)}%`,
    amountOf({ done, total, unit }) + (bytes === null ? '' : `, ${formatBytes(bytes)}`),
    rate === null ? '' : `${amount(rate, unit)}/s`,
    time,
    remainingMs === null ? '' : `${formatDuration(remainingMs)} left`,
  ].filter((fact) => fact !== '');
}

/** `public.orders 1,200 of 9,000` */
function currentOf({ current, ofCurrent }: Progress): string {
  const share = ofCurrent === null ? '' : ` ${formatCount(ofCurrent.done)} of ${formatCount(ofCurrent.total)}`;
  return current === null ? '' : printable(current) + share;
}

function bar(share: number, { barFull, barEmpty }: Marks): string {
  const full = Math.floor(share * BAR_CELLS);
  return barFull.repeat(full) + barEmpty.repeat(BAR_CELLS - full);
}

function amountOf({ done, total, unit }: Pick<Progress, 'done' | 'total' | 'unit'>): string {
  if (total === null) return amount(done, unit);
  return `${unit === 'bytes' ? formatBytes(done) : formatCount(done)} of ${amount(total, unit)}`;
}

function amount(count: number, unit: Progress['unit']): string {
  return unit === 'bytes' ? formatBytes(count) : `${formatCount(count)} ${unit}`;
}
