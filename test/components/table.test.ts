import { describe, expect, test } from 'vitest';
import type { Span } from '../../components/line.tsx';
import { tableHead, tableRow } from '../../components/table-list.tsx';
import { createStyle } from '../../src/cli/printers/style.ts';
import { formatTable } from '../../src/cli/printers/table.ts';
import type { Column } from '../../src/presentation/shapes/column.ts';
import { layOutTable } from '../../src/presentation/shapes/table-layout.ts';
import { cellWidth } from '../../src/text/text-width.ts';
import { fc } from '../helpers/fast-check.ts';

interface Row {
  name: string;
  size: string;
  note: string;
}

const columns: Column<Row>[] = [
  { title: 'NAME', cell: ({ name }) => ({ text: name }), max: 20 },
  { title: 'SIZE', align: 'right', dropRank: 1, cell: ({ size }) => ({ text: size }) },
  { title: 'NOTE', grows: true, dropRank: 2, cell: ({ note }) => ({ text: note }) },
];
const rows: Row[] = [
  { name: 'app', size: '1.2 GB', note: 'before the release' },
  { name: '漢字データ', size: '9 B', note: '🚀🚀🚀' },
];

describe('a table', () => {
  test('lines its columns up by cells, wide characters and emoji included', () => {
    expect(drawn(60)).toEqual([
      'NAME          SIZE  NOTE              ',
      'app         1.2 GB  before the release',
      '漢字データ     9 B  🚀🚀🚀            ',
    ]);
  });

  test('cuts the column that grows first', () => {
    expect(drawn(32)[1]).toBe('app         1.2 GB  before the …');
  });

  test('keeps the mark behind a text that is cut', () => {
    const marked: Column<Row>[] = [{ title: 'NAME', grows: true, cell: ({ note }) => ({ text: note, mark: ' *' }) }];
    const at = (width: number) => {
      const layout = layOutTable(marked, rows, width);
      return rows.map((row) => textOf(tableRow(layout, row, '…')));
    };
    expect(at(40)).toEqual(['before the release *', '🚀🚀🚀 *            ']);
    expect(at(13)).toEqual(['before the… *', '🚀🚀🚀 *     ']);
    const style = createStyle({ color: false, unicode: true });
    expect(formatTable(marked, rows, { columns: 13, style }).split('\n')[1]).toBe('before the… *');
  });

  test('drops whole columns when they do not fit any more, the least important first', () => {
    expect(drawn(30)[0]).toBe('NAME          SIZE');
    expect(drawn(14)[0]).toBe('NAME      ');
  });

  test('has lines of equal width for any content', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 30 });
    fc.assert(
      fc.property(
        fc.array(fc.record({ name: text, size: text, note: text }), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 20, max: 200 }),
        (anyRows, width) => {
          const layout = layOutTable(columns, anyRows, width);
          const widths = anyRows.map((row) => cellWidth(textOf(tableRow(layout, row, '…'))));
          expect(new Set([...widths, cellWidth(textOf(tableHead(layout, '…')))]).size).toBe(1);
        },
      ),
    );
  });
});

function drawn(width: number): string[] {
  const layout = layOutTable(columns, rows, width);
  return [tableHead(layout, '…'), ...rows.map((row) => tableRow(layout, row, '…'))].map(textOf);
}

function textOf(spans: Span[]): string {
  return spans.map(({ text }) => text).join('');
}
