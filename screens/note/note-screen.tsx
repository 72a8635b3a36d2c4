import { Box } from 'ink';
import { Line } from '../../components/line.tsx';
import type { TextEdit } from '../../components/text-edit.ts';
import { TextField } from '../../components/text-field.tsx';
import { noteAbout } from '../../src/presentation/snapshot.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import { BACK } from '../app/keys.ts';
import { type Model, notifyFailure, quietly, type ScreenModule } from '../app/model.ts';
import { refreshSnapshots } from '../app/refresh.ts';

declare module '../app/route.ts' {
  interface Routes {
    note: NoteRoute;
  }
}

interface NoteRoute {
  screen: 'note';
  target: string;
  snapshot: SnapshotRow;
  typing: TextEdit;
}

export const noteScreen: ScreenModule<NoteRoute> = {
  id: 'note',
  title: 'Note',
  view: NoteView,
  keys: [
    {
      keys: ['enter'],
      label: 'save',
      help: 'save the note; an empty one removes it',
      run: (model, route) => void save(model, route),
      stays: true,
      palette: false,
    },
    { ...BACK, keys: ['esc'], label: 'cancel', help: 'back; the note is not changed' },
  ],
  onAccept: (model, route) => void save(model, route),
};

/** Keeps the screen open when the note cannot be saved: the text is not lost. */
async function save(model: Model, route: NoteRoute): Promise<void> {
  const { navigation, operations } = model;
  const { target, snapshot, typing } = route;
  const note = typing.text.trim();
  try {
    const session = quietly(AbortSignal.timeout(10_000));
    await operations.annotate(session, { target, snapshot: snapshot.id, note });
    if (navigation.top() === route) navigation.pop();
    navigation.notify({ tone: 'good', text: note === '' ? 'Note removed' : 'Note saved' });
    await refreshSnapshots(model, target);
  } catch (thrown) {
    notifyFailure(model, thrown);
  }
}

function NoteView({ route }: { route: NoteRoute }) {
  const { columns } = useRoom();
  const { target, snapshot, typing } = route;
  const about = noteAbout(target, snapshot);
  return (
    <Frame screen="note" path={[target, 'note']}>
      <Box flexDirection="column" paddingTop={1} paddingLeft={2}>
        <Line spans={[{ text: about, tone: 'dim' }]} width={columns - 3} />
        <Line spans={[]} width={columns - 3} />
        <TextField label="Note:" edit={typing} width={columns - 4} placeholder="its purpose" />
      </Box>
    </Frame>
  );
}
