import { Box } from 'ink';
import { Line } from '../../components/line.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useTheme } from '../../components/theme.ts';
import { graphemes, wrap } from '../../src/cells.ts';
import { Failure } from '../empty.tsx';
import { Frame, useRoom } from '../frame.tsx';
import type { SetupPlace } from '../place.ts';
import { SETUP_STEPS } from './steps.ts';

/** The first configuration, question by question; nothing is written before the end. */
export function SetupScreen({ place }: { place: SetupPlace }) {
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const { step, typing, tried, busy, preview, error } = place;
  const width = columns - 4;
  const question = SETUP_STEPS[step];
  const about = question?.about ?? ['The file as it will be written. Enter writes it, Esc goes back.'];
  // The end of the file is what was answered.
  const shown = question
    ? []
    : (preview ?? '')
        .trimEnd()
        .split('\n')
        .slice(-(height - 6));
  return (
    <Frame
      screen="setup"
      path={['set up']}
      aside={[{ text: `step ${step + 1} of ${SETUP_STEPS.length + 1}`, tone: 'dim' }]}
    >
      <Box flexDirection="column" paddingTop={1} paddingLeft={2}>
        {about.flatMap((text) =>
          wrap(text, width).map((line) => <Line key={line} spans={[{ text: line, tone: 'dim' }]} width={width} />),
        )}
        {question?.answer === 'destination' && tried && (
          <Line spans={[{ text: `${glyphs.good} ${tried}`, tone: 'good' }]} width={width} />
        )}
        <Line spans={[]} width={width} />
        {question && typing && (
          <TextField label={question.label} edit={{ ...typing, text: hidePassword(typing.text) }} width={width} />
        )}
        {shown.map((text, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
          <Line key={index} spans={[{ text }]} width={width} />
        ))}
        {busy && <Line spans={[{ text: 'One moment…', tone: 'accent' }]} width={width} />}
      </Box>
      {error && <Failure error={error} width={columns} />}
    </Frame>
  );
}

/** As many characters as it has, so that the cursor stays where it is. */
function hidePassword(text: string): string {
  return text.replace(/(?<=:\/\/[^:/@]*:)[^/]*(?=@)/, (password) => '*'.repeat(graphemes(password).length));
}
