import { GAP, type TableLayout } from '../src/presentation/shapes/table-layout.ts';
import { fitCell, fitCells } from '../src/text/text-width.ts';
import type { Span } from './line.tsx';

export function tableHead<Row>({ columns }: TableLayout<Row>, ellipsis: string): Span[] {
  return joined(
    columns.map(({ column, width }) => ({
      text: fitCells(column.title, width, { align: column.align ?? 'left', ellipsis }),
    })),
  ).map((span) => ({ ...span, tone: 'dim' as const }));
}

export function tableRow<Row>({ columns }: TableLayout<Row>, row: Row, ellipsis: string): Span[] {
  return joined(
    columns.map(({ column, width }) => {
      const { tone = 'plain', ...cell } = column.cell(row);
      return { text: fitCell(cell, width, { align: column.align ?? 'left', ellipsis }), tone };
    }),
  );
}

function joined(cells: Span[]): Span[] {
  return cells.flatMap((cell, index) => (index === 0 ? [cell] : [{ text: ' '.repeat(GAP) }, cell]));
}
