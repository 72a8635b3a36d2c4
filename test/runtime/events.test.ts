import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { RunEvent } from '../../src/results/events.ts';
import { withStep } from '../../src/runtime/events.ts';

test('a step that fails is started and never done', async () => {
  const events: RunEvent[] = [];
  const step = { step: 'dump', label: 'Dump', done: (rows: number) => `Dumped ${rows}` };
  const report = (event: RunEvent) => void events.push(event);
  await expect(withStep(report, step, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withStep(report, step, async () => 3)).toBe(3);
  expect(events).toEqual([
    { event: 'step', step: 'dump', state: 'started', label: 'Dump' },
    { event: 'step', step: 'dump', state: 'started', label: 'Dump' },
    { event: 'step', step: 'dump', state: 'done', label: 'Dumped 3' },
  ]);
});

test('no other file writes events of steps by hand', () => {
  const root = new URL('../../src/', import.meta.url);
  const files = globSync('**/*.ts', { cwd: root }).filter((file) =>
    /event: 'step',/.test(readFileSync(new URL(file, root), 'utf8')),
  );
  expect(files).toEqual(['runtime/events.ts']);
});
