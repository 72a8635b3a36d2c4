import { Box, Text } from 'ink';
import { wrap } from '../src/text/text-width.ts';
import { Choice, type ChoiceOption } from './choice.tsx';
import { useTheme } from './theme.ts';

export interface AskProps<Answer extends string> {
  question: string;
  lines: string[];
  options: ChoiceOption<Answer>[];
  onAnswer: (answer: Answer) => void;
  width: number;
  height: number;
}

const MARGIN = 4;
/** Answers in view, of more. */
const LEAST_ANSWERS = 3;

/** A question, what there is to know, and the answers. In a low window empty lines go first, then what there is to know. */
export function Ask<Answer extends string>({ question, lines, options, onAnswer, width, height }: AskProps<Answer>) {
  const { tones, glyphs } = useTheme();
  const asked = wrap(question, width - MARGIN);
  const known = lines.flatMap((line) => wrap(line, width - MARGIN));
  const room = height - asked.length;
  const limit = Math.min(options.length, Math.max(LEAST_ANSWERS, room));
  const most = Math.max(0, room - limit);
  const shown =
    known.length <= most ? known : [...known.slice(0, Math.max(0, most - 1)), glyphs.ellipsis].slice(0, most);
  const spare = room - limit - shown.length;
  return (
    <Box flexDirection="column" paddingTop={spare > 1 ? 1 : 0}>
      <Box flexDirection="column" paddingLeft={2} paddingBottom={spare > 0 ? 1 : 0}>
        {asked.map((text) => (
          <Text key={text} bold>
            {text}
          </Text>
        ))}
        {shown.map((text, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
          <Text key={index} {...tones.dim}>
            {text}
          </Text>
        ))}
      </Box>
      <Choice options={options} onSelect={onAnswer} {...(limit < options.length && { limit })} />
    </Box>
  );
}
