import { Box, Text } from 'ink';
import type { UserError } from '../src/runtime/errors.ts';
import { printable } from '../src/text/printable.ts';
import { wrap } from '../src/text/text-width.ts';
import { Line } from './line.tsx';
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
export function failureHeight({ message, details, hint }: UserError, width: number): number {
  const texts = [message, ...details, ...(hint ? [hint] : [])];
  return 1 + texts.flatMap((text) => wrap(text, Math.max(10, width - 5))).length;
}

export function Failure({ error, width }: { error: UserError; width: number }) {
  const lines = (text: string) => wrap(text, Math.max(10, width - 5));
  return (
    <Box flexDirection="column" paddingLeft={2} paddingTop={1} flexShrink={0}>
      {lines(error.message).map((text) => (
        <Line key={text} spans={[{ text, tone: 'bad' }]} width={width - 3} />
      ))}
      {error.details.flatMap(lines).map((text) => (
        <Line key={text} spans={[{ text }]} width={width - 3} />
      ))}
      {error.hint &&
        lines(error.hint).map((text) => <Line key={text} spans={[{ text, tone: 'dim' }]} width={width - 3} />)}
    </Box>
  );
}
