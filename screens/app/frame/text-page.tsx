import { Box } from 'ink';
import { Lines, type Span } from '../../../components/line.tsx';
import { useTheme } from '../../../components/theme.ts';
import { type RecordField, recordLines } from '../../../src/operations/snapshots/diff/record-text.ts';
import { Frame, type FrameProps, placeOfText, useModel, useRoom } from './frame.tsx';

interface TextPageProps extends Pick<FrameProps, 'path'> {
  /** Stays in view. */
  head?: Span[][];
  lines: Span[][];
  scrolled: number;
}

/** A text that scrolls. */
export function TextPage({ path, head = [], lines, scrolled }: TextPageProps) {
  const { viewport } = useModel();
  const { columns, height } = useRoom();
  const rows = Math.max(1, height - head.length - 1);
  const { from, aside } = placeOfText(viewport, { scrolled, rows, count: lines.length });
  return (
    <Frame path={path} aside={aside}>
      <Box flexDirection="column" paddingLeft={2}>
        <Lines lines={[...head, [], ...lines.slice(from, from + rows)]} width={columns - 3} />
      </Box>
    </Frame>
  );
}

/** All columns of one record, with whole values. */
export function RecordPage({ fields, ...page }: Omit<TextPageProps, 'lines'> & { fields: RecordField[] }) {
  const { columns } = useRoom();
  const { glyphs } = useTheme();
  return <TextPage {...page} lines={recordLines(fields, { width: columns - 3, glyphs })} />;
}
