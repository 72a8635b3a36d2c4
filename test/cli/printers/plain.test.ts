import { expect, test } from 'vitest';
import { createPlainPrinter } from '../../../src/cli/printers/plain.ts';
import { createStyle } from '../../../src/cli/printers/style.ts';

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
