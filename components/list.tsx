import { Box } from 'ink';
import { createContext, useContext, useRef } from 'react';
import type { Glyphs } from '../src/presentation/shapes/glyphs.ts';
import { Line, type Span } from './line.tsx';
import { useTheme } from './theme.ts';

/** The last frame, for the next keys and clicks. */
export interface Viewport {
  keys: string[];
  furthest: number;
  /** Columns of a wide window are drawn as lines below each other. */
  stacked?: boolean;
  /** Lines in view of a text that scrolls. */
  page?: number;
  /** The pane that has the keys; absent where a screen is alone on its page. */
  pane?: { left: number; right: number; top: number } | undefined;
}

export const ViewportContext = createContext<Viewport | null>(null);

export interface ListProps<Item> {
  items: Item[];
  /** Default: the index. */
  keyOf?: (item: Item, index: number) => string;
  /** Called only for the items in view. */
  row: (item: Item) => Span[];
  selected: number;
  width: number;
  height: number;
  /** A heading cannot be selected; it stays in view above its first item. */
  isHeading?: (item: Item) => boolean;
  /** `false` where the keys go elsewhere: the selected row is marked then, and has no background. */
  isActive?: boolean;
}

/** Mounts only the rows in view. */
export function List<Item>({
  items,
  keyOf = (_, index) => String(index),
  row,
  selected,
  width,
  height,
  isHeading,
  isActive = true,
}: ListProps<Item>) {
  const { glyphs } = useTheme();
  const offset = useRef(0);
  const above = items[selected - 1];
  const lead = above !== undefined && isHeading?.(above) ? 1 : 0;
  offset.current = scrolledTo({ offset: offset.current, selected, lead, height, count: items.length });
  const viewport = useContext(ViewportContext);
  const inView = items.slice(offset.current, offset.current + height);
  const keys = inView.map((item, index) => keyOf(item, offset.current + index));
  if (viewport && isActive) viewport.keys = keys;
  return (
    <Box flexDirection="column" height={height} width={width}>
      {inView.map((item, index) => {
        const isSelected = offset.current + index === selected;
        const pointer = pointerOf(isSelected ? (isActive ? 'active' : 'selected') : 'none', glyphs);
        const spans = isSelected ? row(item).map((span) => ({ ...span, bold: true })) : row(item);
        return (
          <Line
            key={keys[index]}
            spans={[pointer, ...spans]}
            width={width}
            surface={isSelected && isActive ? 'selected' : undefined}
          />
        );
      })}
    </Box>
  );
}

function pointerOf(state: 'active' | 'selected' | 'none', { pointer, selected }: Glyphs): Span {
  if (state === 'none') return { text: '  ' };
  return state === 'active'
    ? { text: `${pointer} `, tone: 'accent', bold: true }
    : { text: selected.padEnd(2), tone: 'dim' };
}

interface Scroll {
  offset: number;
  selected: number;
  lead?: number;
  height: number;
  count: number;
}

/** The first row in view: scrolled as little as possible, without empty rows at the end. */
export function scrolledTo({ offset, selected, lead = 0, height, count }: Scroll): number {
  const lowest = Math.max(0, selected - height + 1);
  const highest = Math.max(0, selected - (height > lead ? lead : 0));
  const wanted = Math.min(Math.max(offset, lowest), highest);
  return Math.max(0, Math.min(wanted, count - height));
}
