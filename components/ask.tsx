import { Box, Text } from 'ink';
import { printable } from '../src/text/printable.ts';
import { Choice, type ChoiceOption } from './choice.tsx';
import { useTheme } from './theme.ts';

export interface AskProps<Answer extends string> {
  question: string;
  lines: string[];
  options: ChoiceOption<Answer>[];
  onAnswer: (answer: Answer) => void;
}

export function Ask<Answer extends string>({ question, lines, options, onAnswer }: AskProps<Answer>) {
  const { tones } = useTheme();
  return (
    <Box flexDirection="column" paddingTop={1}>
      <Box flexDirection="column" paddingLeft={2} paddingBottom={1}>
        <Text bold>{printable(question)}</Text>
        {lines.map((line) => (
          <Text key={line} {...tones.dim}>
            {printable(line)}
          </Text>
        ))}
      </Box>
      <Choice options={options} onSelect={onAnswer} />
    </Box>
  );
}
