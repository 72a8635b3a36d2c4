import { expect, test } from 'vitest';
import { createPlainPrinter } from '../../../src/cli/printers/plain.ts';
import { createStyle } from '../../../src/cli/printers/style.ts';

test('a step that runs is printed again and again, with its progress, until the end', async () => {
  const written: string[] = [];
  const style = createStyle({ color: false, unicode: true });
  const options = { style, clock: () => new Date(0), debug: () => false, everyMs: 2 };
  const twice = Promise.withResolvers<void>();
  const printer = createPlainPrinter({
    ...options,
    write(text) {
      written.push(text);
      if (written.length === 2) twice.resolve();
    },
  });
  printer.report({ event: 'step', step: 'dump', state: 'started', label: 'Dump' });
  printer.report({ event: 'progress', step: 'dump', done: 2_000_000, total: 8_000_000, unit: 'bytes' });
  await twice.promise;
  printer.end('done');
  expect(written[0]).toBe('● Dump: 2.0 MB of 8.0 MB, 0 ms\n');
});

test('each run of a step is printed with its own label and duration', () => {
  let now = 0;
  let written = '';
  const style = createStyle({ color: false, unicode: true });
  const printer = createPlainPrinter({
    write: (text) => {
      written += text;
    },
    style,
    clock: () => new Date(now),
    debug: () => false,
  });
  for (const [label, duration] of [
    ['Dumped 7 tables of shop', 500],
    ['Dumped 3 tables of blog', 20],
  ] as const) {
    printer.report({ event: 'step', step: 'dump', state: 'started', label: 'Dump' });
    now += duration;
    printer.report({ event: 'step', step: 'dump', state: 'done', label });
  }
  expect(written).toBe('✓ Dumped 7 tables of shop 500 ms\n✓ Dumped 3 tables of blog 20 ms\n');
});
