import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLivePrinter, statusLine } from '../../../src/cli/printers/live.ts';
import { createStyle } from '../../../src/cli/printers/style.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import { foldRun, startRun } from '../../../src/state/run.ts';
import { cellWidth } from '../../../src/text/text-width.ts';

const style = createStyle({ color: false, unicode: true });

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

function printing(columns = 80) {
  const chunks: string[] = [];
  const printer = createLivePrinter({
    write: (text) => chunks.push(text),
    style,
    clock: () => new Date(),
    debug: () => false,
    columns: () => columns,
  });
  return { printer, chunks };
}

const started = { event: 'step', step: 'dump', state: 'started', label: 'Dump' } as const;
const done = { ...started, state: 'done' } as const;

/** What is on the terminal's lines after these writes: `\r\x1b[K` clears the last one. */
function shown(chunks: string[]): string[] {
  return chunks
    .join('')
    .split('\n')
    .map((line) => line.split('\r\x1b[K').at(-1) ?? '');
}

test('a running step has a line that is redrawn in place, and a line that stays when it has ended', () => {
  const { printer, chunks } = printing();
  printer.report(started);
  expect(shown(chunks)).toEqual(['● Dump  0 ms']);
  vi.advanceTimersByTime(2000);
  expect(shown(chunks)).toEqual(['● Dump  2.0 s']);
  printer.report(done);
  expect(shown(chunks)).toEqual(['✓ Dump 2.0 s', '']);
});

test('however many events come, the line is redrawn at most ten times a second', () => {
  const { printer, chunks } = printing();
  printer.report(started);
  for (let count = 1; count <= 1000; count += 1) {
    printer.report({ event: 'progress', step: 'dump', done: count, total: 1000, unit: 'tables' });
    vi.advanceTimersByTime(1);
  }
  expect(chunks.length).toBeLessThanOrEqual(11);
  expect(shown(chunks)[0]).toContain('1,000 of 1,000 tables');
});

test('the view draws nothing after the end, and shows an unfinished step as failed', () => {
  const { printer, chunks } = printing();
  printer.report(started);
  printer.end('failed');
  const before = chunks.length;
  vi.advanceTimersByTime(1000);
  expect(chunks.length).toBe(before);
  expect(shown(chunks)).toEqual(['✗ Dump 0 ms', '']);
  expect(vi.getTimerCount()).toBe(0);
});

test('a warning stands above the line of the running step', () => {
  const { printer, chunks } = printing();
  printer.report(started);
  printer.report({ event: 'warning', code: 'odd', message: 'odd' });
  expect(shown(chunks)).toEqual(['warning: odd', '● Dump  0 ms']);
});

test('the line is cut by cells, one short of the width', () => {
  const { printer, chunks } = printing(12);
  printer.report({ ...started, label: '数据库数据库数据库' });
  expect(shown(chunks)).toEqual(['● 数据库数…']);
});

test('the line shows share, amounts, rate, elapsed and remaining time, and the current table', () => {
  const events = [0, 1, 2].map((second) => ({ at: second * 1000, done: second * 5_000_000 }));
  const state = events.reduce(
    (folded, { at, done: bytes }) =>
      foldRun(
        folded,
        { event: 'progress', step: 'dump', done: bytes, total: 20_000_000, unit: 'bytes', current: 'public.orders' },
        at,
      ),
    foldRun(startRun(0), started, 0),
  );
  const [step] = state.steps;
  expect(step && statusLine(step, { now: 2000, style, width: 120 })).toBe(
    '● Dump  █████░░░░░ 50%  10.0 MB of 20.0 MB  5.0 MB/s  2.0 s  2.0 s left  public.orders',
  );
  const narrow = step ? statusLine({ ...step, label: 'Dump '.repeat(20) }, { now: 2000, style, width: 79 }) : '';
  expect(cellWidth(narrow)).toBeLessThanOrEqual(79);
  expect(narrow).toMatch(/^● Dump Dump.*… {2}█.* {2}10.0 MB of 20.0 MB {2}5.0 MB\/s {2}2.0 s {2}2.0 s left$/);
});

test('the line shows bytes and rows, and the progress of the current table', () => {
  const copied: RunEvent = {
    ...{ event: 'progress', step: 'dump', done: 50_000, total: 200_000, unit: 'rows', bytes: 4_000_000 },
    ...{ current: 'public.orders', of_current: { done: 1200, total: 9000, bytes: 310_000 } },
  };
  const [step] = foldRun(foldRun(startRun(0), started, 0), copied, 1000).steps;
  expect(step && statusLine(step, { now: 2000, style, width: 140 })).toBe(
    '● Dump  ██░░░░░░░░ 25%  50,000 of 200,000 rows, 4.0 MB  25,000 rows/s  2.0 s  6.0 s left  public.orders  1,200 of 9,000 rows, 310 kB',
  );
});
