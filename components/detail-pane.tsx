import { Box } from 'ink';
import type { Fact } from '../src/presentation/shapes/fact.ts';
import { factLines } from './facts.tsx';
import { cutSpans, Line, Lines, type Span, spansWidth } from './line.tsx';
import { useTheme } from './theme.ts';

export interface DetailPaneProps {
  title: Span[];
  facts: Fact[];
  width: number;
  /** Rows below a list; beside one, all that the facts need. */
  height?: number;
}

/** Rows of a pane below a list, including the border with its title. */
export const DETAIL_ROWS = 8;

const MARGIN = 2;

export function DetailPane({ title, facts, width, height }: DetailPaneProps) {
  const { ellipsis } = useTheme().glyphs;
  const all = factLines({ facts, width: width - MARGIN * 2 });
  const lines = height === undefined ? all : all.slice(0, height - 1);
  if (lines.length < all.length) lines.at(-1)?.push({ text: ` ${ellipsis}`, tone: 'dim' });
  return (
    <Box flexDirection="column" width={width} overflow="hidden" {...(height === undefined ? {} : { height })}>
      <Box flexDirection="column" flexShrink={0}>
        <TitledRule title={title} width={width} />
        <Box flexDirection="column" paddingLeft={MARGIN}>
          <Lines lines={lines} width={width - MARGIN * 2} />
        </Box>
      </Box>
    </Box>
  );
}

/** A border with a title: ` ─ app ───── `. */
export function TitledRule({ title, width }: { title: Span[]; width: number }) {
  const { glyphs } = useTheme();
  const { rule, ellipsis } = glyphs;
  const shown = cutSpans(title, width - 6, ellipsis);
  const rest = Math.max(0, width - 5 - spansWidth(shown));
  return (
    <Line
      spans={[{ text: ` ${rule} `, tone: 'border' }, ...shown, { text: ` ${rule.repeat(rest)}`, tone: 'border' }]}
      width={width}
    />
  );
}
