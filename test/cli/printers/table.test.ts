import { expect, test } from 'vitest';
import { createStyle } from '../../../src/cli/printers/style.ts';
import { formatTable } from '../../../src/cli/printers/table.ts';
import { cellWidth } from '../../../src/text/text-width.ts';

const style = createStyle({ color: false, unicode: true });
const columns = [
  { title: 'NAME', cell: (row: string[]) => ({ text: row[0] ?? '' }) },
  { title: 'ROWS', cell: (row: string[]) => ({ text: row[1] ?? '' }), align: 'right' as const },
  { title: 'NOTE', cell: (row: string[]) => ({ text: row[2] ?? '' }) },
];

test('columns are aligned by cells, so wide characters and emoji move nothing', () => {
  const rows = [
    ['数据库', '1', 'x'],
    ['👩‍👩‍👧', '1,000', 'y'],
    ['app', '20', ''],
  ];
  expect(formatTable(columns, rows, { columns: null, style }).split('\n')).toEqual([
    'NAME     ROWS  NOTE',
    '数据库      1  x',
    '👩‍👩‍👧      1,000  y',
    'app        20',
  ]);
});

test('output to a program is never cut', () => {
  const note = 'long '.repeat(100).trim();
  expect(formatTable(columns, [['app', '1', note]], { columns: null, style })).toContain(note);
});

test('every line fits the width of a terminal; the widest column is shortened first', () => {
  const lines = formatTable(columns, [['application', '1,234,567', '非常に長い説明'.repeat(10)]], {
    columns: 40,
    style,
  });
  for (const line of lines.split('\n')) expect(cellWidth(line)).toBeLessThanOrEqual(40);
  expect(lines).toContain('application  1,234,567  非常に');
  expect(lines).toContain('…');
});

test('control characters in a name do not reach the terminal', () => {
  const text = formatTable(columns, [['a\x1b[2J', '1', 'b\nc']], { columns: null, style });
  expect(text).not.toContain('\x1b');
  expect(text.split('\n')).toHaveLength(2);
});
