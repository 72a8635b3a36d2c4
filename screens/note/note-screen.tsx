import { Box } from 'ink';
import { Line } from '../../components/line.tsx';
import { TextField } from '../../components/text-field.tsx';
import { formatTime } from '../../src/amounts.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import type { NoteRoute } from '../app/route.ts';

/** The note of a snapshot, typed. */
export function NoteView({ route }: { route: NoteRoute }) {
  const { columns } = useRoom();
  const { target, snapshot, typing } = route;
  const about = `Snapshot ${snapshot.index} of ${target}, taken ${formatTime(snapshot.created_at)}`;
  return (
    <Frame screen="note" path={[target, 'note']}>
      <Box flexDirection="column" paddingTop={1} paddingLeft={2}>
        <Line spans={[{ text: about, tone: 'dim' }]} width={columns - 3} />
        <Line spans={[]} width={columns - 3} />
        <TextField label="Note:" edit={typing} width={columns - 4} placeholder="what this snapshot is for" />
      </Box>
    </Frame>
  );
}
