import { TitledRule } from '../../components/detail-pane.tsx';
import { Lines, type Span } from '../../components/line.tsx';
import { List } from '../../components/list.tsx';
import { PAGE_CHROME } from '../../components/page.tsx';
import { DEFINITION, differenceNotices, diffLines } from '../../src/operations/snapshots/diff/table-diff-text.ts';
import { cellWidth } from '../../src/text/text-width.ts';
import { Frame, useRoom } from '../app/frame/frame.tsx';
import { isFiltering } from '../app/lists/filter.ts';
import { positionIn, rowsByIndex } from '../app/lists/in-view.ts';
import type { Model } from '../app/model.ts';
import { RowsPane } from './rows-pane.tsx';
import { activePane, definitionOf, type TableDifference, type TableDiffRoute } from './table-diff-route.ts';

/** The definition above the rows. */
export function DifferenceView({ route, found }: { route: TableDiffRoute; found: TableDifference }) {
  const { columns: width, height } = useRoom();
  const { target, table, sides } = route;
  const notices = differenceNotices(found);
  const room = height - notices.length;
  const definition = definitionHeight(found, room);
  return (
    <Frame path={[target, table]} aside={sidesAside({ target, table, sides }, width)}>
      <Lines lines={notices.map((spans) => [{ text: '  ' }, ...spans])} width={width} />
      {definition > 0 && <DefinitionPane route={route} width={width} height={definition} />}
      {found.records.length > 0 && <RowsPane route={route} found={found} width={width} height={room - definition} />}
    </Frame>
  );
}

/** Cells of `tool` and what is between the names. */
const PATH_MARGIN = 20;

/** Left out where it would cut the name of the table. */
export function sidesAside(
  { target, table, sides }: Pick<TableDiffRoute, 'target' | 'table' | 'sides'>,
  width: number,
): Span[] {
  const isRoom = cellWidth(target) + cellWidth(table) + cellWidth(sides) + PATH_MARGIN <= width;
  return isRoom ? [{ text: sides, tone: 'dim' }] : [];
}

const LEAST_DEFINITION = 4;

/** With rows below it a long definition scrolls. */
function definitionHeight(found: TableDifference, room: number): number {
  const lines = definitionOf({ found }).length;
  if (lines === 0) return 0;
  return found.records.length === 0 ? room : Math.min(lines + 1, Math.max(LEAST_DEFINITION, Math.floor(room * 0.4)));
}

function DefinitionPane({ route, width, height }: { route: TableDiffRoute; width: number; height: number }) {
  const lines = diffLines(definitionOf(route));
  const isActive = activePane(route) === 'definition';
  return (
    <>
      <TitledRule title={[{ text: DEFINITION, tone: isActive ? 'strong' : 'dim' }]} width={width} />
      <List
        items={lines}
        row={(line) => [line]}
        selected={positionIn(rowsByIndex(lines), route.definition.selected)}
        width={width}
        height={height - 1}
        isActive={isActive}
      />
    </>
  );
}

/** Lines between the head of the page and the first row of the pane with the keys. */
export function linesAbove(route: TableDiffRoute, { terminal }: Pick<Model, 'terminal'>): number {
  const { found } = route;
  if (!found) return 1;
  const notices = differenceNotices(found).length;
  const filter = isFiltering(route) ? 1 : 0;
  const isDefinition = activePane(route) === 'definition';
  return notices + 1 + (isDefinition ? 0 : filter + definitionHeight(found, terminal.rows() - PAGE_CHROME - notices));
}
