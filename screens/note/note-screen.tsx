import type { TextEdit } from '../../components/text-edit.ts';
import {
  ANNOTATION_FIELDS,
  annotatedText,
  noteAbout,
  noteSaved,
} from '../../src/operations/snapshots/annotate/text.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import { FieldFrame } from '../app/frame/field-frame.tsx';
import { BACK } from '../app/keys.ts';
import { refreshSnapshots } from '../app/lists/refresh.ts';
import { type Model, notifyFailure, quietly, type ScreenModule } from '../app/model.ts';

declare module '../app/route.ts' {
  interface Routes {
    note: NoteRoute;
  }
}

interface NoteRoute {
  screen: 'note';
  what: 'note' | 'tags';
  target: string;
  snapshot: SnapshotRow;
  typing: TextEdit;
}

export const noteScreen: ScreenModule<NoteRoute> = {
  id: 'note',
  title: 'Note or tags',
  view: NoteView,
  keys: [
    {
      keys: ['enter'],
      label: 'save',
      help: 'save the text; an empty one removes it',
      run: (model, route) => void save(model, route),
      stays: true,
      palette: false,
    },
    { ...BACK, keys: ['esc'], label: 'cancel', help: 'back; nothing is changed' },
  ],
  onAccept: (model, route) => void save(model, route),
};

/** Keeps the screen open when the text cannot be saved: the text is not lost. */
async function save(model: Model, route: NoteRoute): Promise<void> {
  const { navigation, operations } = model;
  const { what, target, snapshot, typing } = route;
  const text = typing.text.trim();
  try {
    const session = quietly(AbortSignal.timeout(10_000));
    const change = what === 'note' ? { note: text } : tagChange(snapshot, text);
    const row = await operations.annotate(session, { target, snapshot: snapshot.id, ...change });
    if (navigation.top() === route) navigation.pop();
    navigation.notify({ tone: 'good', text: what === 'note' ? noteSaved(text) : annotatedText('tag', target, row) });
    await refreshSnapshots(model, target);
  } catch (thrown) {
    notifyFailure(model, thrown);
  }
}

function tagChange({ tags = [] }: SnapshotRow, text: string) {
  const wanted = text.split(/[\s,]+/).filter((tag) => tag !== '');
  return { addTags: wanted, removeTags: tags.filter((tag) => !wanted.includes(tag)) };
}

function NoteView({ route }: { route: NoteRoute }) {
  const { what, target, snapshot, typing } = route;
  const field = { ...ANNOTATION_FIELDS[what], about: noteAbout(target, snapshot), edit: typing };
  return <FieldFrame screen="note" path={[target, what]} {...field} />;
}
