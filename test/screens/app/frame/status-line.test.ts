import { expect, test } from 'vitest';
import { runningCells, statusSpans } from '../../../../screens/app/frame/status-line.ts';
import { UNICODE } from '../../../../src/presentation/shapes/glyphs.ts';
import { foldRun, startRun } from '../../../../src/state/run.ts';
import type { Run } from '../../../../src/state/runs.ts';

const WORK = '● Build a snapshot of app 40%';

function shown(change: Partial<Parameters<typeof statusSpans>[0]>): string {
  const status = { notice: null, toast: null, work: WORK, filled: 4, width: 80, ...change };
  return statusSpans(status, UNICODE)
    .map(({ text }) => text)
    .join('');
}

test('the run in progress has a bar, where the words leave room for it and its share is known', () => {
  expect(shown({})).toBe(`████░░░░░░ ${WORK}`);
  expect(shown({ width: 40 })).toBe(WORK);
  expect(shown({ filled: null })).toBe(WORK);
});

test('a notice, and then the result of another run, come before it', () => {
  const toast = { run: '1', at: 0, tone: 'good', text: 'Built snapshot 0 of app' } as never;
  expect(shown({ toast })).toBe('✓ Built snapshot 0 of app');
  expect(shown({ toast, notice: { tone: 'plain', text: 'Note saved' } })).toBe('Note saved');
});

test('the bar is that of a run on another screen', () => {
  const step = { event: 'step', step: 'dump', state: 'started', label: 'Dump' } as const;
  const progress = { event: 'progress', step: 'dump', done: 47, total: 100, unit: 'tables' } as const;
  const state = foldRun(foldRun(startRun(0), step, 0), progress, 1000);
  const run = { id: '1', state } as Run;
  expect(runningCells([run], { shown: null, now: 1000 })).toBe(4);
  expect(runningCells([run], { shown: '1', now: 1000 })).toBe(null);
});
