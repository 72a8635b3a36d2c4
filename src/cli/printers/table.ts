import type { Cell, Column } from '../../presentation/shapes/column.ts';
import { GAP, layOutTable } from '../../presentation/shapes/table-layout.ts';
import { cut, fitCells } from '../../text/text-width.ts';
import type { Style } from './style.ts';

export interface TableOptions {
  /** Columns are dropped and lines cut to it; `null` when nothing is cut, since the reader is a program. */
  columns: number | null;
  style: Style;
}

/** A table of aligned columns, its titles first. */
export function formatTable<Row>(columns: Column<Row>[], rows: Row[], { columns: width, style }: TableOptions): string {
  const unbounded = columns.map(({ max, ...column }): Column<Row> => column);
  const layout = layOutTable(unbounded, rows, width ?? Number.POSITIVE_INFINITY).columns;
  const gap = ' '.repeat(GAP);
  const natural = layout.map((each) => each.width);
  const widths = width === null ? natural : shrink(natural, width - GAP * (layout.length - 1));
  const { ellipsis } = style.glyphs;
  const line = (cells: Cell[]): string =>
    cells
      .map(({ text, tone = 'plain' }, index) => {
        const { align = 'left' } = layout[index]?.column ?? {};
        const last = index === layout.length - 1 && align === 'left';
        const room = widths[index] ?? 0;
        return style.paint(tone, last ? cut(text, room, ellipsis) : fitCells(text, room, { align, ellipsis }));
      })
      .join(gap)
      .trimEnd();
  const titles = layout.map(({ column: { title } }): Cell => ({ text: title, tone: 'dim' }));
  return [titles, ...rows.map((row) => layout.map(({ column }) => column.cell(row)))].map(line).join('\n');
}

/** Takes the missing room from the widest columns first, where no column may be dropped any more. */
function shrink(widths: number[], room: number): number[] {
  const shares = [...widths];
  let excess = shares.reduce((sum, width) => sum + width, 0) - room;
  while (excess > 0) {
    const widest = Math.max(...shares);
    if (widest <= 1) break;
    shares[shares.indexOf(widest)] = widest - 1;
    excess -= 1;
  }
  return shares;
}
