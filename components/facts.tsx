import { Box } from 'ink';
import { cellWidth, wrap } from '../src/text/text-width.ts';
import { Line, type Span } from './line.tsx';
import type { Tone } from './theme.ts';

export interface Fact {
  name: string;
  value: string;
  tone?: Tone;
}

export interface FactsProps {
  facts: Fact[];
  width: number;
  indent?: number;
}

/** Names and values in two columns; long values wrap. */
export function Facts({ facts, width, indent = valueColumn(facts) }: FactsProps) {
  const lines = facts.flatMap(({ name, value, tone = 'plain' }) =>
    wrap(value, Math.max(8, width - indent)).map((text, index): Span[] => [
      { text: (index === 0 ? name : '').padEnd(indent), tone: 'dim' },
      { text, tone },
    ]),
  );
  return (
    <Box flexDirection="column" width={width}>
      {lines.map((spans, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
        <Line key={index} spans={spans} width={width} />
      ))}
    </Box>
  );
}

function valueColumn(facts: Fact[]): number {
  return facts.reduce((widest, { name }) => Math.max(widest, cellWidth(name)), 0) + 2;
}
