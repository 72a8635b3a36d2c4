import { Box } from 'ink';
import { Line } from '../../components/line.tsx';
import { TextField } from '../../components/text-field.tsx';
import { formatBytes } from '../../src/amounts.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import type { ExportRoute } from '../app/route.ts';

/** The file that a snapshot is written to. */
export function ExportView({ route: { target, snapshot, typing } }: { route: ExportRoute }) {
  const { columns } = useRoom();
  const about = `Snapshot ${snapshot.index} of ${target}, ${formatBytes(snapshot.size_bytes)}: tool import reads the file`;
  return (
    <Frame screen="export" path={[target, 'export']}>
      <Box flexDirection="column" paddingTop={1} paddingLeft={2}>
        <Line spans={[{ text: about, tone: 'dim' }]} width={columns - 3} />
        <Line spans={[]} width={columns - 3} />
        <TextField label="File:" edit={typing} width={columns - 4} />
      </Box>
    </Frame>
  );
}
