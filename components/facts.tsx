import { Box } from 'ink';
import type { Fact } from '../src/presentation/shapes/fact.ts';
import { cellWidth, wrap } from '../src/text/text-width.ts';
import { Lines, type Span } from './line.tsx';

export interface FactsProps {
  facts: Fact[];
  width: number;
  indent?: number;
}

/** Names and values in two columns; long values wrap. */
export function Facts(props: FactsProps) {
  return (
    <Box flexDirection="column" width={props.width}>
      <Lines lines={factLines(props)} width={props.width} />
    </Box>
  );
}

/** The same as lines, to be scrolled. */
export function factLines({ facts, width, indent = valueColumn(facts) }: FactsProps): Span[][] {
  // An empty brief form leaves the fact to where there is room.
  const shown = facts.filter(({ value, brief = value }) => brief !== '' || value === '');
  const room = Math.max(8, width - indent);
  return shown.flatMap(({ name, value, brief = value, short = brief, tone = 'plain' }) =>
    wrap(cellWidth(brief) > room ? short : brief, room).map((text, index): Span[] => [
      { text: (index === 0 ? name : '').padEnd(indent), tone: 'dim' },
      { text, tone },
    ]),
  );
}

function valueColumn(facts: Fact[]): number {
  return facts.reduce((widest, { name }) => Math.max(widest, cellWidth(name)), 0) + 2;
}
