import { Box, Text } from 'ink';
import type { ReactNode } from 'react';
import type { Glyphs } from '../src/presentation/shapes/glyphs.ts';
import { betweenBlanks, cutSpans, Line, type Span, spansWidth } from './line.tsx';
import { useTheme } from './theme.ts';

export interface Pane {
  id: string;
  title: Span[];
  /** At the right end of its upper rule. */
  aside?: Span[];
  /** It has the keys. */
  focused?: boolean;
  /** Lines below its upper rule. */
  height: number;
  content: ReactNode;
}

/** Panes that stand one below the other. */
export interface PaneColumn {
  /** Cells between its rules. */
  width: number;
  panes: Pane[];
}

/** Lines over the whole width, below the panes. */
export interface Strip {
  title: Span[];
  lines: Span[][];
}

/** Panes side by side with a rule between them, and a strip below; `panesBorder` is the page's border around them. */
export function Panes({ columns, strip }: { columns: PaneColumn[]; strip: Strip }) {
  const { glyphs } = useTheme();
  const all = [undefined, ...columns];
  const width = columns.reduce((sum, column) => sum + column.width + 1, 1);
  return (
    <Box flexDirection="column" flexShrink={0}>
      <Box flexShrink={0}>
        {all.map((column, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity but their place
          <Box key={index} flexShrink={0}>
            {column && <Column {...column} />}
            <Side left={column} right={columns[index]} />
          </Box>
        ))}
      </Box>
      <Line spans={stripRule(columns, strip, glyphs)} width={width} />
      {strip.lines.map((spans, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
        <Line key={index} spans={betweenSides(spans, { width, glyphs })} width={width} />
      ))}
    </Box>
  );
}

function Column({ width, panes }: PaneColumn) {
  const { glyphs } = useTheme();
  return (
    <Box flexDirection="column" width={width} flexShrink={0}>
      {panes.map((pane, index) => (
        <Box key={pane.id} flexDirection="column" flexShrink={0}>
          {index > 0 && <Line spans={titledRule(pane, { width, glyphs })} width={width} />}
          <Box flexDirection="column" width={width} height={pane.height} overflow="hidden" flexShrink={0}>
            <Box flexDirection="column" flexShrink={0}>
              {pane.content}
            </Box>
          </Box>
        </Box>
      ))}
    </Box>
  );
}

/** The rule between two columns, with junctions where panes below each other meet it. */
function Side({ left, right }: { left: PaneColumn | undefined; right: PaneColumn | undefined }) {
  const { border, glyphs } = useTheme();
  const [leftRules, rightRules] = [rulesOf(left), rulesOf(right)];
  const { cross, left: fromLeft, right: toRight } = glyphs.junctions;
  const height = (left ?? right)?.panes.reduce((sum, pane) => sum + pane.height + 1, -1) ?? -1;
  const text = Array.from({ length: height }, (_, row) =>
    leftRules.has(row) ? (rightRules.has(row) ? cross : fromLeft) : rightRules.has(row) ? toRight : glyphs.side,
  ).join('\n');
  return (
    <Box width={1} height={height} flexShrink={0}>
      <Text {...border}>{text}</Text>
    </Box>
  );
}

/** Rows of a column that are rules. */
function rulesOf(column: PaneColumn | undefined): Set<number> {
  let row = -1;
  const rows = (column?.panes ?? []).map(({ height }) => {
    row += height + 1;
    return row;
  });
  return new Set(rows.slice(0, -1));
}

interface RuleRoom {
  width: number;
  glyphs: Glyphs;
}

/** `─ ❯ snapshots of app ───── 6, 3.4 MB ─`, in exactly so many cells. */
function titledRule(
  { title, aside = [], focused = false }: Omit<Pane, 'id' | 'content' | 'height'>,
  { width, glyphs }: RuleRoom,
): Span[] {
  const { rule, ellipsis, pointer } = glyphs;
  const lead: Span[] = focused ? [{ text: `${pointer} `, tone: 'accent', bold: true }] : [];
  const looks = title.map((span): Span => (focused ? span : { ...span, bold: false, tone: 'dim' }));
  const shownAside = aside.filter(({ text }) => text !== '');
  const right = betweenBlanks(shownAside);
  const wanted = [...lead, ...looks];
  // The name of the object stays whole.
  const isRoom = spansWidth(right) + spansWidth(wanted) + 4 <= width;
  const shownRight = isRoom ? right : [];
  const shown = cutSpans(wanted, Math.max(0, width - 4 - spansWidth(shownRight)), ellipsis);
  const rest = Math.max(0, width - spansWidth(shown) - spansWidth(shownRight) - 4);
  return [
    { text: `${rule} `, tone: 'border' },
    ...shown,
    { text: ` ${rule.repeat(rest)}`, tone: 'border' },
    ...shownRight,
    { text: rule, tone: 'border' },
  ];
}

/** The upper border with the titles of the first panes, and the lower one. */
export function panesBorder(columns: PaneColumn[], glyphs: Glyphs): { head: Span[]; lower: Span[] } {
  const { corners, junctions, rule } = glyphs;
  const segments = columns.flatMap(({ width, panes: [pane] }, index): Span[] => [
    ...(index === 0 ? [] : [{ text: junctions.down, tone: 'border' as const }]),
    ...(pane ? titledRule(pane, { width, glyphs }) : []),
  ]);
  const foot = columns.map(({ width }) => rule.repeat(width)).join(rule);
  return {
    head: [{ text: corners.topLeft, tone: 'border' }, ...segments, { text: corners.topRight, tone: 'border' }],
    lower: [{ text: `${corners.bottomLeft}${foot}${corners.bottomRight}`, tone: 'border' }],
  };
}

/** Its title covers the junctions below it. */
function stripRule(columns: PaneColumn[], { title }: Strip, glyphs: Glyphs): Span[] {
  const { junctions, rule } = glyphs;
  const width = columns.reduce((sum, column) => sum + column.width + 1, -1);
  const plain = columns.map((column) => rule.repeat(column.width)).join(junctions.up);
  const lead = titledRule({ title }, { width: Math.min(width, spansWidth(title) + 4), glyphs });
  return [
    { text: junctions.right, tone: 'border' },
    ...lead,
    { text: plain.slice(spansWidth(lead)), tone: 'border' },
    { text: junctions.left, tone: 'border' },
  ];
}

function betweenSides(spans: Span[], { width, glyphs }: RuleRoom): Span[] {
  const shown = cutSpans(spans, width - 3, glyphs.ellipsis);
  const blank = ' '.repeat(Math.max(0, width - 3 - spansWidth(shown)));
  const side: Span = { text: glyphs.side, tone: 'border' };
  return [side, { text: ' ' }, ...shown, { text: blank }, side];
}
