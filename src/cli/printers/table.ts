import type { Cell, Column } from '../../presentation/shapes/column.ts';
import { GAP, layOutTable } from '../../presentation/shapes/table-layout.ts';
import { printable } from '../../text/printable.ts';
import { cutBefore, fitCell, wrap } from '../../text/text-width.ts';
import type { Style } from './style.ts';

export interface TableOptions {
  /** Columns are dropped and lines cut to it; `null` when nothing is cut, since the reader is a program. */
  columns: number | null;
  style: Style;
}

/** A table of aligned columns, its titles first; where not even those fit that must be whole, `TITLE: value` lines. */
export function formatTable<Row>(columns: Column<Row>[], rows: Row[], { columns: width, style }: TableOptions): string {
  const unbounded = columns.map(({ max, ...column }): Column<Row> => column);
  const { columns: layout, fits } = layOutTable(unbounded, rows, width ?? Number.POSITIVE_INFINITY);
  if (!fits && width !== null) return records(unbounded, rows, width);
  const gap = ' '.repeat(GAP);
  const { ellipsis } = style.glyphs;
  const line = (cells: Cell[]): string =>
    cells
      .map(({ tone = 'plain', ...cell }, index) => {
        const { align = 'left' } = layout[index]?.column ?? {};
        const last = index === layout.length - 1 && align === 'left';
        const room = layout[index]?.width ?? 0;
        return style.paint(tone, last ? cutBefore(cell, room, ellipsis) : fitCell(cell, room, { align, ellipsis }));
      })
      .join(gap)
      .trimEnd();
  const titles = layout.map(({ column: { title } }): Cell => ({ text: title, tone: 'dim' }));
  return [titles, ...rows.map((row) => layout.map(({ column }) => column.cell(row)))].map(line).join('\n');
}

/** A paragraph for each row; values that are not set are left out. */
function records<Row>(columns: Column<Row>[], rows: Row[], width: number): string {
  const linesOf = (row: Row): string[] =>
    columns.flatMap(({ title, cell }) => {
      const { text: value, mark = '' } = cell(row);
      const text = printable(`${value}${mark}`).trim();
      return text === '' ? [] : wrap(title.trim() === '' ? text : `${printable(title)}: ${text}`, width);
    });
  return rows.map((row) => linesOf(row).join('\n')).join('\n\n');
}
