import { Box } from 'ink';
import { Lines } from '../../../components/line.tsx';
import { useTheme } from '../../../components/theme.ts';
import { type RecordField, recordLines } from '../../../src/operations/snapshots/diff/record-text.ts';
import type { ScreenId } from '../route.ts';
import { Frame, linesInView, useModel, useRoom } from './frame.tsx';

export interface RecordPageProps {
  screen: ScreenId;
  path: string[];
  fields: RecordField[];
  /** Lines. */
  scrolled: number;
}

/** All columns of one record, with whole values. */
export function RecordPage({ screen, path, fields, scrolled }: RecordPageProps) {
  const { viewport } = useModel();
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const width = columns - 3;
  const lines = recordLines(fields, { width, glyphs });
  const room = height - 1;
  const furthest = Math.max(0, lines.length - room);
  viewport.furthest = furthest;
  viewport.page = room;
  const from = Math.min(scrolled, furthest);
  return (
    <Frame screen={screen} path={path} aside={linesInView({ from, rows: room, count: lines.length })}>
      <Box flexDirection="column" paddingLeft={2} paddingTop={1}>
        <Lines lines={lines.slice(from, from + room)} width={width} />
      </Box>
    </Frame>
  );
}
