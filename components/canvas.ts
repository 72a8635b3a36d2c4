import type { Glyphs } from '../src/presentation/shapes/glyphs.ts';
import { cellWidth, graphemes } from '../src/text/text-width.ts';
import { cutSpans, type Span } from './line.tsx';

/** Cells on which text and lines are drawn; what is outside of them is left out. */
export interface Canvas {
  text: (at: Point, spans: Span[]) => void;
  /** A line through the points, at right angles; where it meets another they are joined. */
  line: (points: Point[], style: LineStyle) => void;
  lines: () => Span[][];
}

export interface Point {
  x: number;
  y: number;
}

export interface LineStyle extends Omit<Span, 'text'> {
  /** The stroke of its horizontal parts. */
  stroke?: 'heavy' | 'broken' | undefined;
}

interface Cell extends Span {
  /** Directions in which lines leave it. */
  ways: number;
  stroke?: LineStyle['stroke'];
}

const RIGHT = 1;
const LEFT = 2;
const UP = 4;
const DOWN = 8;

export function createCanvas({ width, height, glyphs }: { width: number; height: number; glyphs: Glyphs }): Canvas {
  const rows = Array.from({ length: height }, () =>
    Array.from({ length: width }, (): Cell => ({ text: ' ', ways: 0 })),
  );
  const set = ({ x, y }: Point, cell: Cell): void => {
    const row = rows[y];
    if (row?.[x]) row[x] = cell;
  };
  const join = ({ x, y }: Point, { way, style }: { way: number; style: LineStyle }): void => {
    set({ x, y }, { text: '', ...style, ways: (rows[y]?.[x]?.ways ?? 0) | way });
  };
  return {
    text({ x, y }, spans) {
      let column = x;
      for (const { text, ...look } of spans) {
        for (const grapheme of graphemes(text)) {
          set({ x: column, y }, { text: grapheme, ...look, ways: 0 });
          // The second cell of a wide character is taken by it.
          for (let next = 1; next < cellWidth(grapheme); next += 1) set({ x: column + next, y }, { text: '', ways: 0 });
          column += cellWidth(grapheme);
        }
      }
    },
    line(points, style) {
      for (const [index, to] of points.entries()) {
        let at = points[index - 1] ?? to;
        while (at.x !== to.x || at.y !== to.y) {
          const [dx, dy] = [Math.sign(to.x - at.x), Math.sign(to.y - at.y)];
          const next = dx !== 0 ? { x: at.x + dx, y: at.y } : { x: at.x, y: at.y + dy };
          const [out, back] = dx > 0 ? [RIGHT, LEFT] : dx < 0 ? [LEFT, RIGHT] : dy > 0 ? [DOWN, UP] : [UP, DOWN];
          join(at, { way: out, style });
          join(next, { way: back, style });
          at = next;
        }
      }
    },
    // Neighbours of one look are one span: each costs a node.
    lines: () =>
      rows.map((row) =>
        cutSpans(
          row.map((cell) => drawn(cell, glyphs)),
          width,
          '',
        ),
      ),
  };
}

function drawn({ ways, stroke, text, ...look }: Cell, glyphs: Glyphs): Span {
  return { ...look, text: ways === 0 ? text : lineGlyph(ways, { stroke, glyphs }) };
}

function lineGlyph(ways: number, { stroke, glyphs }: { stroke: LineStyle['stroke']; glyphs: Glyphs }): string {
  const { corners, junctions, rule, side } = glyphs;
  const joined: Record<number, string> = {
    [RIGHT | DOWN]: corners.topLeft,
    [LEFT | DOWN]: corners.topRight,
    [RIGHT | UP]: corners.bottomLeft,
    [LEFT | UP]: corners.bottomRight,
    [UP | DOWN | RIGHT]: junctions.right,
    [UP | DOWN | LEFT]: junctions.left,
    [LEFT | RIGHT | DOWN]: junctions.down,
    [LEFT | RIGHT | UP]: junctions.up,
    [LEFT | RIGHT | UP | DOWN]: junctions.cross,
  };
  if ((ways & (UP | DOWN)) === 0) return stroke ? glyphs[stroke] : rule;
  return joined[ways] ?? side;
}
