import { Box } from 'ink';
import type { ReactNode } from 'react';
import { cut } from '../src/text/text-width.ts';
import { KeyBar, type KeyHint } from './key-bar.tsx';
import { betweenBlanks, cutSpans, Line, type Span, spansWidth } from './line.tsx';
import { StatusBar, type StatusFact } from './status-bar.tsx';
import { type TextStyle, useTheme } from './theme.ts';

export interface Size {
  columns: number;
  rows: number;
}

export interface PageProps {
  size: Size;
  path: string[];
  aside?: Span[];
  status: Span[];
  facts?: StatusFact[];
  hints: KeyHint[];
  /** The upper and the lower border of panes, which have their sides themselves. */
  border?: { head: Span[]; lower: Span[] } | undefined;
  children: ReactNode;
}

/** Lines above the content: the upper border, which has the title. */
export const PAGE_HEAD = 1;

/** Lines of a page besides the content: both borders, status, keys. */
export const PAGE_CHROME = 4;

/** In narrower windows the panel has no sides. */
const SIDES_FROM = 72;

/** Columns of the content. Never fewer in a wider window. */
export function contentWidth(columns: number): number {
  return columns < SIDES_FROM ? Math.min(columns, SIDES_FROM - 2) : columns - 2;
}

/** A panel with a title, the status bar and the keys. */
export function Page({ size, path, aside = [], status, facts = [], hints, border: own, children }: PageProps) {
  const { glyphs, border } = useTheme();
  const { columns, rows } = size;
  const sides = columns >= SIDES_FROM && glyphs.side !== '';
  const { topLeft, topRight, bottomLeft, bottomRight } = glyphs.corners;
  const [first, last] = sides ? [topLeft, topRight] : [glyphs.rule, glyphs.rule];
  const lower = sides ? `${bottomLeft}${glyphs.rule.repeat(columns - 2)}${bottomRight}` : glyphs.rule.repeat(columns);
  const { head, lower: foot } = own ?? {
    head: titleLine({ path, aside, columns, glyphs, first, last }),
    lower: [{ text: lower, tone: 'border' as const }],
  };
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      <Line spans={head} width={columns} />
      <Box
        flexDirection="column"
        height={Math.max(0, rows - PAGE_CHROME)}
        width={columns}
        overflow="hidden"
        {...(sides && !own ? sidesOf(glyphs.side, border) : {})}
      >
        {/* Cut where it is too high: lines that shrink would be drawn over each other. */}
        <Box flexDirection="column" flexShrink={0}>
          {children}
        </Box>
      </Box>
      <Line spans={foot} width={columns} />
      <StatusBar left={status} facts={facts} width={columns} />
      <KeyBar hints={hints} width={columns} />
    </Box>
  );
}

/** Borders at the left and right alone. */
function sidesOf(side: string, { color, dimColor = false }: TextStyle) {
  const none = { top: '', bottom: '', topLeft: '', topRight: '', bottomLeft: '', bottomRight: '' };
  return {
    borderStyle: { ...none, left: side, right: side },
    borderTop: false,
    borderBottom: false,
    ...(color === undefined ? {} : { borderColor: color }),
    borderDimColor: dimColor,
  };
}

interface TitleLine {
  path: string[];
  aside: Span[];
  columns: number;
  glyphs: { pointer: string; ellipsis: string; rule: string };
  /** The corners. */
  first: string;
  last: string;
}

/** Makes room for the whole name of the object: shortens the way to it, then cuts what stands at the right. */
function titleLine({ path, aside, columns, glyphs, first, last }: TitleLine): Span[] {
  const { rule } = glyphs;
  const ends = first.length + last.length + rule.length * 2;
  const shownAside = aside.filter(({ text }) => text !== '');
  const room = (right: Span[]) => columns - ends - spansWidth(right) - 2;
  const rights = shownAside.map((_, less) => betweenBlanks(shownAside.slice(0, shownAside.length - less)));
  const most = room(nameSpans(path)) - 2;
  const right =
    rights.find((spans) => spansWidth(spans) <= most + 2) ??
    (most < LEAST_ASIDE ? [] : betweenBlanks(cutSpans(shownAside.slice(0, 1), most, glyphs.ellipsis)));
  const left = cutSpans(waySpans(path, room(right), glyphs), room(right), glyphs.ellipsis);
  const space = Math.max(0, columns - ends - spansWidth(left) - 1 - spansWidth(right));
  return [
    { text: `${first}${rule}`, tone: 'border' },
    ...left,
    { text: ` ${(rule || ' ').repeat(space)}`, tone: 'border' },
    ...right,
    { text: `${rule}${last}`, tone: 'border' },
  ];
}

function nameSpans(path: string[]): Span[] {
  return [{ text: ' ' }, { text: path.at(-1) ?? '', tone: 'strong' }];
}

/** Returns the path, without its beginning or with shorter parts before the name where it is too wide. */
function waySpans(path: string[], room: number, { pointer, ellipsis }: TitleLine['glyphs']): Span[] {
  const way = (names: string[]): Span[] =>
    names.flatMap((name, index): Span[] => [
      { text: index === 0 ? ' ' : ` ${pointer} `, tone: 'dim' },
      { text: name, tone: index === names.length - 1 ? 'strong' : index === 0 ? 'accent' : 'plain' },
    ]);
  const shortened = path
    .slice(1, -1)
    .map((_, at) => [
      ellipsis,
      ...path.slice(1, at + 2).map((name) => cut(name, SHORTENED, ellipsis)),
      ...path.slice(at + 2),
    ]);
  const left = path.slice(1).map((_, at) => [ellipsis, ...path.slice(at + 1)]);
  const ways = [path, ...left.slice(0, 1), ...shortened, ...left.slice(1)].map(way);
  return ways.find((spans) => spansWidth(spans) <= room) ?? nameSpans(path);
}

/** Cells of the right end that are worth showing. */
const LEAST_ASIDE = 6;

/** Cells of a part of the path that makes room for the name. */
const SHORTENED = 8;
