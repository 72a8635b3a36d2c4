import { textEdit } from '../../components/text-edit.ts';
import { factsOf } from '../app/facts.ts';
import { type Model, quietly } from '../app/model.ts';
import { notifyFailure } from '../app/notify-failure.ts';
import { refreshSnapshots } from '../app/refresh.ts';
import type { NoteRoute } from '../app/route.ts';

export function writeNote(model: Model): void {
  const { target, snapshot } = factsOf(model);
  if (!target || !snapshot) return;
  const typing = textEdit(snapshot.note ?? '');
  model.navigation.push({ screen: 'note', target: target.row.name, snapshot, typing });
}

/** Keeps the place open when the note cannot be saved: what was typed is not lost. */
export function saveNote(model: Model, route: NoteRoute): void {
  void save(model, route);
}

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
