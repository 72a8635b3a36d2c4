import type { TextEdit } from '../../components/text-edit.ts';
import {
  ANNOTATION_FIELDS,
  annotatedText,
  noteAbout,
  noteSaved,
} from '../../src/operations/snapshots/annotate/text.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import { fieldScreen } from '../app/frame/field-screen.tsx';
import { refreshSnapshots } from '../app/lists/refresh.ts';
import { type Model, orNotify, quietly } from '../app/model.ts';

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

export const noteScreen = fieldScreen<NoteRoute>({
  id: 'note',
  title: 'Note or tags',
  words: { label: 'save', help: 'save the text; an empty one removes it' },
  nothing: 'changed',
  field: ({ what, target, snapshot }) => ({
    ...ANNOTATION_FIELDS[what],
    path: [target, what],
    about: noteAbout(target, snapshot),
  }),
  accept: (model, route) => void orNotify(model, () => save(model, route)),
});

/** Keeps the screen open when the text cannot be saved: the text is not lost. */
async function save(model: Model, route: NoteRoute): Promise<void> {
  const { navigation, operations } = model;
  const { what, target, snapshot, typing } = route;
  const text = typing.text.trim();
  const session = quietly(AbortSignal.timeout(10_000));
  const change = what === 'note' ? { note: text } : tagChange(snapshot, text);
  const row = await operations.annotate(session, { target, snapshot: snapshot.id, ...change });
  if (navigation.top() === route) navigation.pop();
  navigation.notify({ tone: 'good', text: what === 'note' ? noteSaved(text) : annotatedText('tag', target, row) });
  await refreshSnapshots(model, target);
}

function tagChange({ tags = [] }: SnapshotRow, text: string) {
  const wanted = text.split(/[\s,]+/).filter((tag) => tag !== '');
  return { addTags: wanted, removeTags: tags.filter((tag) => !wanted.includes(tag)) };
}
