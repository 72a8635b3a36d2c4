import { editText, pasteText, type TextEdit } from '../components/text-edit.ts';
import { ACTIONS } from './actions.ts';
import { confirmTyped } from './confirm/actions.ts';
import { factsOf } from './facts.ts';
import { bindingFor } from './keys.ts';
import type { Model } from './model.ts';
import { saveNote } from './note/actions.ts';
import { type Place, type SnapshotsPlace, type TargetsPlace, typingAt } from './place.ts';
import { interrupt } from './quit/actions.ts';

/** Does what a key means at the present place. While text is typed, keys are text. */
export function dispatchKey(model: Model, key: string): void {
  if (key === 'ctrl+c') {
    interrupt(model);
    return;
  }
  model.navigation.notify(null);
  const place = model.navigation.top();
  const typing = typingAt(place);
  if (typing) dispatchTyped(model, { place, typing, key });
  else dispatchBound(model, place, key);
}

/** Pasted text: only a text that is being typed takes it. */
export function dispatchPaste(model: Model, pasted: string): void {
  const place = model.navigation.top();
  const typing = typingAt(place);
  if (typing) model.navigation.replace(withTyping(place, pasteText(typing, pasted)));
}

function dispatchBound(model: Model, place: Place, key: string): void {
  const facts = factsOf(model);
  const binding = bindingFor(place.screen, key, facts);
  if (!binding) return;
  const reason = binding.whyNot?.(facts) ?? null;
  if (reason === null) ACTIONS[binding.action](model);
  else model.navigation.notify({ tone: 'caution', text: reason });
}

interface Typed {
  place: Place;
  typing: TextEdit;
  key: string;
}

function dispatchTyped(model: Model, { place, typing, key }: Typed): void {
  if (key === 'enter') {
    acceptTyped(model, place);
    return;
  }
  if (key === 'esc') {
    leaveTyped(model, place);
    return;
  }
  const edited = editText(typing, key);
  if (edited) model.navigation.replace(withTyping(place, edited));
  // While a filter is typed, the list below it can still be walked through.
  else if (key === 'up' || key === 'down') ACTIONS[`move-${key}`](model);
}

function acceptTyped(model: Model, place: Place): void {
  if (isFiltered(place)) keepFilter(model, place, place.typing?.text.trim() ?? '');
  else if (place.screen === 'note') saveNote(model, place);
  else if (place.screen === 'confirm') confirmTyped(model, place);
}

function leaveTyped(model: Model, place: Place): void {
  if (isFiltered(place)) keepFilter(model, place, '');
  else ACTIONS.back(model);
}

function isFiltered(place: Place): place is TargetsPlace | SnapshotsPlace {
  return place.screen === 'targets' || place.screen === 'snapshots';
}

function keepFilter(model: Model, place: TargetsPlace | SnapshotsPlace, filter: string): void {
  model.navigation.replace({ ...place, list: { ...place.list, filter }, typing: null });
}

function withTyping(place: Place, typing: TextEdit): Place {
  return 'typing' in place ? { ...place, typing } : place;
}
