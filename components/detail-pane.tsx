import { Box } from 'ink';
import type { Fact } from '../src/presentation/shapes/fact.ts';
import { Facts } from './facts.tsx';
import { Line, type Span } from './line.tsx';
import { useTheme } from './theme.ts';

export interface DetailPaneProps {
  title: Span[];
  facts: Fact[];
  width: number;
  place: 'beside' | 'below';
}

/** Rows of a pane below a list, including the rule. */
export const DETAIL_ROWS = 8;

const MARGIN = 2;

export function DetailPane({ title, facts, width, place }: DetailPaneProps) {
  const { glyphs } = useTheme();
  const below = place === 'below';
  const inner = width - MARGIN * 2;
  return (
    <Box
      flexDirection="column"
      width={width}
      paddingLeft={MARGIN}
      overflow="hidden"
      {...(below ? { height: DETAIL_ROWS } : {})}
    >
      <Box flexDirection="column" flexShrink={0}>
        {below && <Line spans={[{ text: glyphs.rule.repeat(Math.max(0, inner)), tone: 'dim' }]} width={inner} />}
        <Line spans={title} width={inner} />
        <Facts facts={facts} width={inner} />
      </Box>
    </Box>
  );
}
