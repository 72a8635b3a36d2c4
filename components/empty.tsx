import { Box, Text } from 'ink';
import type { UserError } from '../src/runtime/errors.ts';
import { printable } from '../src/text/printable.ts';
import { wrap } from '../src/text/text-width.ts';
import { Lines, type Span } from './line.tsx';
import { useTheme } from './theme.ts';

export function Empty({ lines }: { lines: string[] }) {
  const { tones } = useTheme();
  return (
    <Box flexDirection="column" paddingTop={1} paddingLeft={2}>
      {lines.map((line, index) => (
        <Text key={line} {...(index === 0 ? {} : tones.dim)}>
          {printable(line)}
        </Text>
      ))}
    </Box>
  );
}

/** In rows. */
export function failureHeight(error: UserError, width: number): number {
  return 1 + failureLines(error, width).length;
}

function failureLines({ message, details, hint }: UserError, width: number): Span[][] {
  const lines = (text: string, tone: Span['tone'] = 'plain') =>
    wrap(text, Math.max(10, width - 5)).map((line): Span[] => [{ text: line, tone }]);
  return [...lines(message, 'bad'), ...details.flatMap((text) => lines(text)), ...(hint ? lines(hint, 'dim') : [])];
}

export function Failure({ error, width }: { error: UserError; width: number }) {
  return (
    <Box flexDirection="column" paddingLeft={2} paddingTop={1} flexShrink={0}>
      <Lines lines={failureLines(error, width)} width={width - 3} />
    </Box>
  );
}
