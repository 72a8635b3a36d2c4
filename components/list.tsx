import { Box } from 'ink';
import { createContext, useContext, useRef } from 'react';
import { Line, type Span } from './line.tsx';
import { useTheme } from './theme.ts';

/** What a list shows at the moment, for clicks on it. */
export interface Viewport {
  /** Index of the first item in view. */
  offset: number;
  /** Items in view. */
  rows: number;
}

export const ViewportContext = createContext<Viewport | null>(null);

export interface ListProps<Item> {
  items: Item[];
  keyOf: (item: Item) => string;
  /** The line of an item; called only for the items in view. */
  row: (item: Item) => Span[];
  /** Index of the item with the pointer; -1 for none. */
  selected: number;
  width: number;
  height: number;
}

/** A list that mounts only the rows in view, so that ten thousand items cost what twenty do. */
export function List<Item>({ items, keyOf, row, selected, width, height }: ListProps<Item>) {
  const { glyphs } = useTheme();
  const offset = useRef(0);
  offset.current = scrolledTo({ offset: offset.current, selected, height, count: items.length });
  const viewport = useContext(ViewportContext);
  if (viewport) Object.assign(viewport, { offset: offset.current, rows: Math.min(height, items.length) });
  return (
    <Box flexDirection="column" height={height} width={width}>
      {items.slice(offset.current, offset.current + height).map((item, index) => {
        const isSelected = offset.current + index === selected;
        const pointer: Span = isSelected ? { text: `${glyphs.pointer} `, tone: 'accent', bold: true } : { text: '  ' };
        const spans = isSelected ? row(item).map((span) => ({ ...span, bold: true })) : row(item);
        return <Line key={keyOf(item)} spans={[pointer, ...spans]} width={width} />;
      })}
    </Box>
  );
}

interface Scroll {
  offset: number;
  selected: number;
  height: number;
  count: number;
}

/** The first row in view: moved no further than it must for the selection to be seen, and no empty rows below. */
export function scrolledTo({ offset, selected, height, count }: Scroll): number {
  const lowest = Math.max(0, selected - height + 1);
  const highest = Math.max(0, selected);
  const wanted = Math.min(Math.max(offset, lowest), highest);
  return Math.max(0, Math.min(wanted, count - height));
}
