import { Box } from 'ink';
import { useContext, useRef } from 'react';
import type { Glyphs } from '../src/presentation/shapes/glyphs.ts';
import { type Grid, type GridLayout, type StyledText, signWidth } from '../src/presentation/shapes/grid.ts';
import { GAP } from '../src/presentation/shapes/table-layout.ts';
import { fitCells } from '../src/text/text-width.ts';
import { cutSpans, Line, type Span, spansWidth } from './line.tsx';
import { ViewportContext } from './list.tsx';
import { useTheme } from './theme.ts';

export interface GridViewProps<Row> {
  grid: Grid<Row>;
  layout: GridLayout;
  keyOf: (index: number) => string;
  /** Index. */
  selected: number;
  width: number;
  height: number;
  /** `false` where the keys go elsewhere. */
  isActive?: boolean;
}

const POINTER_WIDTH = 2;

/** Cells of a line of the grid beside its columns: pointer, sign, and one at the right. */
export function gridMargin<Row>(grid: Pick<Grid<Row>, 'sign'>): number {
  return POINTER_WIDTH + signWidth(grid) + 1;
}

/** Records of one or two lines below the names of their columns; a record is selected as a whole. */
export function GridView<Row>({ grid, layout, keyOf, selected, width, height, isActive = true }: GridViewProps<Row>) {
  const { glyphs } = useTheme();
  const viewport = useContext(ViewportContext);
  const first = useRef(0);
  const room = Math.max(1, height - 1);
  first.current = firstInView(grid, { first: first.current, selected, room });
  const lines = linesInView(grid, first.current, room);
  if (viewport && isActive) viewport.keys = lines.map(({ index }) => keyOf(index));
  return (
    <Box flexDirection="column" width={width} height={height} flexShrink={0}>
      <Line spans={headLine(grid, layout, { width, glyphs })} width={width} />
      {lines.map((place) => {
        const isSelected = isActive && place.index === selected;
        return (
          <Line
            key={`${keyOf(place.index)} ${place.line}`}
            spans={[pointer(isSelected && place.line === 0, glyphs), ...recordLine(grid, layout, { ...place, glyphs })]}
            width={width}
            surface={isSelected ? 'selected' : undefined}
          />
        );
      })}
    </Box>
  );
}

interface HeadOptions {
  width: number;
  glyphs: Glyphs;
}

interface LineInView<Row> {
  row: Row;
  /** Index of the row. */
  index: number;
  line: number;
}

interface Scroll {
  first: number;
  selected: number;
  room: number;
}

/** Scrolled as little as possible so that the whole selected record is in view, without empty lines at the end. */
function firstInView<Row>({ rows, height }: Grid<Row>, { first, selected, room }: Scroll): number {
  const linesOf = (index: number): number => {
    const row = rows[index];
    return row === undefined ? 0 : height(row);
  };
  /** The first of the rows that end with `last` and are in view together. */
  const topFor = (last: number): number => {
    let top = last;
    for (let used = linesOf(top); top > 0 && used + linesOf(top - 1) <= room; top -= 1) used += linesOf(top - 1);
    return Math.max(0, top);
  };
  return Math.min(Math.max(Math.min(first, selected), topFor(selected)), topFor(rows.length - 1));
}

function linesInView<Row>({ rows, height }: Grid<Row>, first: number, room: number): LineInView<Row>[] {
  const lines: LineInView<Row>[] = [];
  for (let index = first; index < rows.length && lines.length < room; index += 1) {
    const row = rows[index];
    if (row === undefined) break;
    for (let line = 0; line < height(row); line += 1) lines.push({ row, index, line });
  }
  return lines.slice(0, room);
}

function pointer(isSelected: boolean, { pointer: glyph }: Glyphs): Span {
  return { text: (isSelected ? glyph : '').padEnd(POINTER_WIDTH), tone: 'accent', bold: true };
}

/** At its ends, where there are columns out of view. */
function headLine<Row>(grid: Grid<Row>, layout: GridLayout, { width, glyphs }: HeadOptions): Span[] {
  const { columns, fixed } = grid;
  const { ellipsis, less, more } = glyphs;
  const names = layout.columns.flatMap(({ index, width: cells }, at): Span[] => {
    const { name = '', align = 'left', changed = false } = columns[index] ?? {};
    const tone = index < fixed ? 'strong' : changed ? 'caution' : 'dim';
    return [...gapBefore(at), { text: fitCells(name, cells, { align, ellipsis }), tone }];
  });
  const margin = POINTER_WIDTH + signWidth(grid);
  return [
    { text: (layout.before > 0 ? less : '').padEnd(margin), tone: 'accent' },
    ...names,
    { text: ' '.repeat(Math.max(0, width - margin - spansWidth(names) - 1)) },
    { text: layout.after > 0 ? more : '', tone: 'accent' },
  ];
}

function recordLine<Row>(
  grid: Grid<Row>,
  layout: GridLayout,
  { row, line, glyphs }: LineInView<Row> & { glyphs: Glyphs },
): Span[] {
  const sign = (line === 0 && grid.sign?.(row)) || { text: '' };
  return [
    { ...sign, text: sign.text.padEnd(signWidth(grid)), bold: true },
    ...layout.columns.flatMap(({ index, width }, at): Span[] => {
      const value = grid.cell(row, { line, column: index, width, glyphs });
      return [
        ...gapBefore(at),
        ...fitted(value, width, { align: grid.columns[index]?.align, ellipsis: glyphs.ellipsis }),
      ];
    }),
  ];
}

function gapBefore(at: number): Span[] {
  return at === 0 ? [] : [{ text: ' '.repeat(GAP) }];
}

/** The value in exactly so many cells: cut where the whole is too wide, not where one of its parts ends with the room. */
function fitted(
  value: StyledText[],
  width: number,
  { align = 'left', ellipsis }: { align?: 'left' | 'right' | undefined; ellipsis: string },
): Span[] {
  const isWhole = spansWidth(value) <= width;
  const cut = isWhole ? value : cutSpans(value, width - spansWidth([{ text: ellipsis }]), '');
  const shown: Span[] = isWhole ? cut : [...cut, { text: ellipsis, tone: 'dim' }];
  const padding = { text: ' '.repeat(Math.max(0, width - spansWidth(shown))) };
  return align === 'right' ? [padding, ...shown] : [...shown, padding];
}
