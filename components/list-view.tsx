import { Box } from 'ink';
import type { Column } from '../src/presentation/shapes/column.ts';
import type { Fact } from '../src/presentation/shapes/fact.ts';
import type { UserError } from '../src/runtime/errors.ts';
import { DETAIL_ROWS, DetailPane } from './detail-pane.tsx';
import { Empty, Failure } from './empty.tsx';
import { TableList } from './table-list.tsx';

export interface ListViewProps<Row> {
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
  /** Index. */
  selected: number;
  width: number;
  height: number;
  /** Instead of the rows. */
  error?: UserError | null;
  /** In place of rows where there are none. */
  empty: string[];
  /** Title and facts of the selected row. */
  detail?: (row: Row) => { title: string; facts: Fact[] };
  /** Details beside the list instead of below it. */
  wide?: boolean;
}

/** In fewer rows there is no pane below the list. */
const DETAIL_FROM = 16;

/** A list with columns and the details of its selected row; or why there are no rows. */
export function ListView<Row>(props: ListViewProps<Row>) {
  const { columns, rows, keyOf, selected, width, height, error = null, empty, detail, wide = false } = props;
  if (error) return <Failure error={error} width={width} />;
  if (rows.length === 0) return <Empty lines={empty} />;
  const row = rows[selected];
  const shown = row !== undefined && (wide || height >= DETAIL_FROM) ? detail?.(row) : undefined;
  const beside = shown !== undefined && wide;
  const listWidth = beside ? Math.floor(width * 0.6) : width;
  return (
    <Box flexDirection={beside ? 'row' : 'column'}>
      <TableList
        columns={columns}
        rows={rows}
        keyOf={keyOf}
        selected={selected}
        width={listWidth}
        height={height - (shown && !beside ? DETAIL_ROWS : 0)}
      />
      {shown && (
        <DetailPane
          title={[{ text: shown.title, tone: 'strong' }]}
          facts={shown.facts}
          width={beside ? width - listWidth : width}
          place={beside ? 'beside' : 'below'}
        />
      )}
    </Box>
  );
}
