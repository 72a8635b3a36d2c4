import type { Column } from '../src/presentation/shapes/column.ts';
import type { TableLayout } from '../src/presentation/shapes/table-layout.ts';
import { cellWidth } from '../src/text/text-width.ts';
import { LIST_MARGIN } from './table-list.tsx';

export interface ListPanes {
  place: 'beside' | 'below' | 'none';
  /** Cells of the list. */
  listWidth: number;
}

interface ListRoom {
  width: number;
  height: number;
  /** There is room for details beside the list. */
  wide: boolean;
  /** The width at which the table drops no column. */
  needed: number;
}

/** Cells of details beside a list, at least. */
const LEAST_DETAILS = 40;
/** In fewer rows there is no pane below the list. */
const BELOW_FROM = 16;

/** Details stand beside the list only where that costs the list no column. */
export function listPanes({ width, height, wide, needed }: ListRoom): ListPanes {
  const most = width - LEAST_DETAILS;
  const list = needed + LIST_MARGIN;
  if (wide && list <= most) {
    return { place: 'beside', listWidth: Math.min(most, Math.max(list, Math.floor(width * 0.6))) };
  }
  return { place: height >= BELOW_FROM ? 'below' : 'none', listWidth: width };
}

/** `NOTE: before the release`: what must not be cut of the selected row, where its column is cut or dropped. */
export function essentialTexts<Row>(columns: Column<Row>[], { columns: shown }: TableLayout<Row>, row: Row): string[] {
  return columns.flatMap(({ title, cell, essential = false }) => {
    const { text } = cell(row);
    const width = shown.find(({ column }) => column.title === title)?.width ?? 0;
    return essential && text.trim() !== '' && cellWidth(text) > width ? [`${title}: ${text}`] : [];
  });
}
