import { Box } from 'ink';
import { Line } from '../../../components/line.tsx';
import { TextField, type TextFieldProps } from '../../../components/text-field.tsx';
import { Frame, type FrameProps, useRoom } from './frame.tsx';

interface FieldFrameProps extends Omit<TextFieldProps, 'width'>, Pick<FrameProps, 'path'> {
  about: string;
}

/** The page of a screen that asks for one text. */
export function FieldFrame({ path, about, ...field }: FieldFrameProps) {
  const { columns } = useRoom();
  return (
    <Frame path={path}>
      <Box flexDirection="column" paddingTop={1} paddingLeft={2}>
        <Line spans={[{ text: about, tone: 'dim' }]} width={columns - 3} />
        <Line spans={[]} width={columns - 3} />
        <TextField {...field} width={columns - 4} />
      </Box>
    </Frame>
  );
}
