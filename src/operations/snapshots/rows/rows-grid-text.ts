import type { Grid } from '../../../presentation/shapes/grid.ts';
import type { RowsResult } from '../../../results/review/rows-results.ts';
import { escaped } from '../../../text/printable.ts';
import type { RecordField } from '../diff/record-text.ts';
import { columnOrder, titleOf } from '../diff/rows-grid-text.ts';
import { gridColumn, type ShownValue, shownValue } from './value-text.ts';

type Row = RowsResult['rows'][number];

/** The columns of the key first; they stay while the others scroll. */
export function rowsGrid(result: RowsResult): Grid<Row> {
  const { columns, rows, key = [] } = result;
  const order = columnOrder({ columns, key });
  const shownIn = (row: Row, index: number): ShownValue => shownValue(row[index], { isMasked: columns[index]?.masked });
  return {
    columns: order.map((index) =>
      gridColumn(
        columns[index]?.name ?? '',
        rows.map((row) => shownIn(row, index)),
      ),
    ),
    fixed: key.length,
    rows,
    height: () => 1,
    cell(row, { column }) {
      const { text, isText, isMasked } = shownIn(row, order[column] ?? 0);
      return [{ text, tone: isText && !isMasked ? 'plain' : 'dim' }];
    },
  };
}

/** All columns of a row, in the order of the grid. */
export function rowFields({ columns, rows, cut, key = [] }: RowsResult, row: number): RecordField[] {
  const lengths = new Map(cut.flatMap((value) => (value.row === row ? [[value.column, value.bytes] as const] : [])));
  return columnOrder({ columns, key }).map((index) => ({
    name: escaped(columns[index]?.name ?? ''),
    after: shownValue(rows[row]?.[index], { isMasked: columns[index]?.masked, bytes: lengths.get(index) }),
  }));
}

/** `id 17`, or `row 3`. */
export function rowTitle({ columns, rows, key = [], skipped = 0 }: RowsResult, index: number): string {
  const values = (rows[index] ?? []).map((value, at) => shownValue(value, { isMasked: columns[at]?.masked }));
  return titleOf(values, { columns, key }, skipped + index);
}
