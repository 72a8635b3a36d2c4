import { editText, pasteText, type TextEdit } from '../components/text-edit.ts';
import { ACTIONS } from './actions.ts';
import { confirmTyped } from './confirm/actions.ts';
import { factsOf } from './facts.ts';
import { bindingFor } from './keys.ts';
import type { Model } from './model.ts';
import { saveNote } from './note/actions.ts';
import { type Place, typingAt } from './place.ts';
import { interrupt } from './quit/actions.ts';

/** Does what a key means at the present place. While text is typed, keys are text. */
export function dispatchKey(model: Model, key: string): void {
  const { navigation } = model;
  if (key === 'ctrl+c') return interrupt(model);
  navigation.notify(null);
  const place = navigation.top();
  const typing = typingAt(place);
  if (typing) return dispatchTyped(model, { place, typing, key });
  const facts = factsOf(model);
  const binding = bindingFor(place.screen, key, facts);
  if (!binding) return;
  const reason = binding.whyNot?.(facts) ?? null;
  if (reason !== null) return navigation.notify({ tone: 'caution', text: reason });
  ACTIONS[binding.action](model);
}

/** Pasted text: only a text that is being typed takes it. */
export function dispatchPaste(model: Model, pasted: string): void {
  const place = model.navigation.top();
  const typing = typingAt(place);
  if (typing) model.navigation.replace(withTyping(place, pasteText(typing, pasted)));
}

interface Typed {
  place: Place;
  typing: TextEdit;
  key: string;
}

function dispatchTyped(model: Model, { place, typing, key }: Typed): void {
  const { navigation } = model;
  if (key === 'enter') return acceptTyped(model, place);
  if (key === 'esc') return leaveTyped(model, place);
  const edited = editText(typing, key);
  if (edited) navigation.replace(withTyping(place, edited));
  // While a filter is typed, the list below it can still be walked through.
  else if (key === 'up' || key === 'down') ACTIONS[key === 'up' ? 'move-up' : 'move-down'](model);
}

function acceptTyped(model: Model, place: Place): void {
  switch (place.screen) {
    case 'targets':
    case 'snapshots': {
      const filter = place.typing?.text.trim() ?? '';
      return model.navigation.replace({ ...place, list: { ...place.list, filter }, typing: null });
    }
    case 'note':
      return saveNote(model, place);
    case 'confirm':
      return confirmTyped(model, place);
    default:
  }
}

function leaveTyped(model: Model, place: Place): void {
  if (place.screen === 'targets' || place.screen === 'snapshots') {
    return model.navigation.replace({ ...place, list: { ...place.list, filter: '' }, typing: null });
  }
  ACTIONS.back(model);
}

function withTyping(place: Place, typing: TextEdit): Place {
  return 'typing' in place ? { ...place, typing } : place;
}
