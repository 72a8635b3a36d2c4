import type { Column } from '../../presentation/column.ts';
import { cellWidth, cut, fitCells } from '../../text/text-width.ts';
import type { Style } from './style.ts';

export interface TableOptions {
  /** Lines are cut to it; `null` when nothing is cut, since the reader is a program. */
  columns: number | null;
  style: Style;
}

const GAP = '  ';

/** A table of aligned columns, its titles first. */
export function formatTable<Row>(columns: Column<Row>[], rows: Row[], { columns: width, style }: TableOptions): string {
  const cells = rows.map((row) => columns.map((column) => column.cell(row)));
  const widths = columns.map(({ title }, index) =>
    Math.max(cellWidth(title), ...cells.map((line) => cellWidth(line[index]?.text ?? ''))),
  );
  const shares = width === null ? widths : shrink(widths, width - GAP.length * (columns.length - 1));
  const ellipsis = style.glyphs.ellipsis;
  const line = (texts: string[], paint: (text: string, index: number) => string) =>
    texts
      .map((text, index) => {
        const { align = 'left' } = columns[index] as Column<Row>;
        const last = index === columns.length - 1 && align === 'left';
        const room = shares[index] ?? 0;
        return paint(last ? cut(text, room, ellipsis) : fitCells(text, room, { align, ellipsis }), index);
      })
      .join(GAP)
      .trimEnd();
  return [
    line(
      columns.map(({ title }) => title),
      (text) => style.paint('dim', text),
    ),
    ...cells.map((row) =>
      line(
        row.map(({ text }) => text),
        (text, index) => style.paint(row[index]?.tone ?? 'plain', text),
      ),
    ),
  ].join('\n');
}

/** Takes the missing room from the widest columns first, since those lose least by it. */
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
