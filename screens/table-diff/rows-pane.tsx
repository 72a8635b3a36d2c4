import { useMemo } from 'react';
import { Empty } from '../../components/empty.tsx';
import { FilterLine } from '../../components/filter-line.tsx';
import { diffGrid, recordFields, recordTitle } from '../../src/operations/snapshots/diff/rows-grid-text.ts';
import { changedColumns } from '../../src/presentation/shapes/grid.ts';
import { GridPane } from '../app/frame/grid-pane.tsx';
import { isFiltering } from '../app/lists/filter.ts';
import { positionIn } from '../app/lists/in-view.ts';
import { noMatchLines } from '../app/text.ts';
import { activePane, recordsInView, type TableDifference, type TableDiffRoute } from './table-diff-route.ts';

interface RowsPaneProps {
  route: TableDiffRoute;
  found: TableDifference;
  width: number;
  height: number;
}

/** The changed rows as a grid, with the changed columns of the selected one. */
export function RowsPane({ route, found: { rows, records }, width, height }: RowsPaneProps) {
  const { list, typing, scrolled, onlyChanged } = route;
  const inView = recordsInView(route);
  const grid = useMemo(() => {
    const all = rows && diffGrid(rows, records);
    return all && onlyChanged ? changedColumns(all) : all;
  }, [rows, records, onlyChanged]);
  if (!rows || !grid) return null;
  const filtering = isFiltering(route);
  const selected = positionIn(inView, list.selected);
  return (
    <>
      {filtering && <FilterLine typing={typing} filter={list.filter} width={width} />}
      {inView.ids.length === 0 ? (
        <Empty lines={noMatchLines('rows')} />
      ) : (
        <GridPane
          grid={{ ...grid, rows: inView.records }}
          ids={inView.ids}
          selected={selected}
          record={(record) => ({
            title: recordTitle(record, rows, selected),
            ...recordFields(record, { rows, records, isWhole: false }),
          })}
          scrolled={scrolled}
          width={width}
          height={height - (filtering ? 1 : 0)}
          isActive={activePane(route) === 'rows'}
        />
      )}
    </>
  );
}
