import { Box } from 'ink';
import type { ReactNode } from 'react';
import { KeyBar, type KeyHint } from './key-bar.tsx';
import { cutSpans, Line, type Span, spansWidth } from './line.tsx';
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

/** Leaves out the way to the object first, then cuts its name: the right end changes more often. */
function titleLine({ path, aside, columns, glyphs, first, last }: TitleLine): Span[] {
  const { pointer, ellipsis, rule } = glyphs;
  const shownAside = aside.filter(({ text }) => text !== '');
  const right: Span[] = shownAside.length === 0 ? [] : [{ text: ' ' }, ...trimmed(shownAside), { text: ' ' }];
  const wayFrom = (from: number): Span[] =>
    [...(from > 0 ? [ellipsis] : []), ...path.slice(from)].flatMap((name, index, { length }): Span[] => [
      { text: index === 0 ? ' ' : ` ${pointer} `, tone: 'dim' },
      { text: name, tone: index === length - 1 ? 'strong' : index === 0 ? 'accent' : 'plain' },
    ]);
  const ends = first.length + last.length + rule.length * 2;
  const room = columns - ends - spansWidth(right) - 2;
  const from = path.findIndex((_, at) => spansWidth(wayFrom(at)) <= room);
  const name: Span[] = [{ text: ' ' }, { text: path.at(-1) ?? '', tone: 'strong' }];
  const left = cutSpans(from === -1 ? name : wayFrom(from), room, ellipsis);
  const space = Math.max(0, columns - ends - spansWidth(left) - 1 - spansWidth(right));
  return [
    { text: `${first}${rule}`, tone: 'border' },
    ...left,
    { text: ` ${(rule || ' ').repeat(space)}`, tone: 'border' },
    ...right,
    { text: `${rule}${last}`, tone: 'border' },
  ];
}

/** Without blanks at the end: the border has its own. */
function trimmed(spans: Span[]): Span[] {
  const last = spans.length - 1;
  return spans.map((span, index) => (index === last ? { ...span, text: span.text.trimEnd() } : span));
}
