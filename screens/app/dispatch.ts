import { PAGE_HEAD } from '../../components/page.tsx';
import { editText, pasteText, type TextEdit } from '../../components/text-edit.ts';
import { emptyList, selectedIndex } from '../../src/state/list.ts';
import { confirmTyped } from '../confirm/actions.ts';
import { completeName } from '../editor/names.ts';
import { acceptField, checkTyped, NOT_TYPING } from '../editor/typed.ts';
import { saveNote } from '../note/actions.ts';
import { entriesInView } from '../palette/entries.ts';
import { interrupt } from '../quit/actions.ts';
import { answerTyped } from '../setup/actions.ts';
import { beginExport } from '../snapshots/actions.ts';
import { ACTIONS } from './actions.ts';
import { type AtPlaces, doAt } from './at-places.ts';
import { openTarget } from './browse.ts';
import { type Facts, factsOf } from './facts.ts';
import { idsInView } from './ids-in-view.ts';
import type { KeyBinding } from './key-binding.ts';
import { bindingFor, EVERYWHERE_ACTIONS, KEY_TABLE } from './keys.ts';
import type { Model } from './model.ts';
import { type FilteredPlace, isFiltered, type PalettePlace, type Place, typingAt } from './place.ts';
import type { MouseEvent } from './terminal/mouse.ts';

/** Does what a key means at the present place. While text is typed, keys are text. */
export function dispatchKey(model: Model, key: string): void {
  if (key === 'ctrl+c') {
    interrupt(model);
    return;
  }
  model.navigation.notify(null);
  model.messages.seen();
  const place = model.navigation.top();
  const typing = typingAt(place);
  if (typing) dispatchTyped(model, { place, typing, key });
  else dispatchBound(model, place, key);
}

const WHEEL_STEP = 3;

/** The wheel moves as the arrows do; a click selects what is under it, and on what is selected opens it. */
export function dispatchMouse(model: Model, event: MouseEvent): void {
  switch (event.kind) {
    case 'wheel-up':
    case 'wheel-down':
      for (let step = 0; step < WHEEL_STEP; step += 1)
        ACTIONS[event.kind === 'wheel-up' ? 'move-up' : 'move-down'](model);
      return;
    case 'click':
      click(model, event.row);
      return;
    case 'other':
      return;
    default:
      event satisfies never;
  }
}

function click(model: Model, row: number): void {
  const place = model.navigation.top();
  if (!('list' in place)) return;
  const ids = idsInView(model, place);
  // Between the head of the page and the list is what the screen has above its list.
  const clicked = model.viewport.keys[row - PAGE_HEAD - rowsAboveList(place)];
  if (clicked === undefined || !ids.includes(clicked)) return;
  if (clicked === ids[selectedIndex(ids, place.list.selected)]) dispatchKey(model, 'enter');
  else model.navigation.replace({ ...place, list: { ...place.list, selected: clicked } });
}

/** The titles of the columns, and the field of a filter or of the palette. */
function rowsAboveList(place: Place): number {
  if (place.screen === 'palette') return 2;
  return isFiltered(place) && (place.typing !== null || place.list.filter !== '') ? 2 : 1;
}

/** Pasted text: only a text that is being typed takes it. */
export function dispatchPaste(model: Model, pasted: string): void {
  const place = model.navigation.top();
  const typing = typingAt(place);
  if (!typing) return;
  model.navigation.replace(withTyping(place, pasteText(typing, pasted)));
  checkTyped(model);
}

function dispatchBound(model: Model, place: Place, key: string): void {
  const facts = factsOf(model);
  const binding = bindingFor(place.screen, key, facts);
  if (binding) act(model, binding, facts);
}

/** Does what a binding stands for, or says why it cannot be done. */
function act(model: Model, binding: KeyBinding, facts: Facts): void {
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
  if (edited) {
    model.navigation.replace(withTyping(place, edited));
    checkTyped(model);
  } else if (key === 'tab' && place.screen === 'editor') completeName(model, place);
  // While a filter is typed, the list below it can still be walked through.
  else if (key === 'up' || key === 'down') ACTIONS[`move-${key}`](model);
}

/** What Enter does with what was typed; elsewhere it keeps the filter. */
const ACCEPTING: AtPlaces = {
  palette: choose,
  setup: answerTyped,
  editor: acceptField,
  export: beginExport,
  note: saveNote,
  confirm: confirmTyped,
};

function acceptTyped(model: Model, place: Place): void {
  if (isFiltered(place)) keepFilter(model, place, place.typing?.text.trim() ?? '');
  else doAt(ACCEPTING, model, place);
}

/** Back to where the palette was opened, and there what was chosen. */
function choose(model: Model, place: PalettePlace): void {
  const entries = entriesInView(model, place);
  const entry = entries.find(({ text }) => text === place.list.selected) ?? entries[0];
  if (!entry) return;
  model.navigation.pop();
  const { does } = entry;
  if ('goTo' in does) {
    openTarget(model, does.goTo);
    return;
  }
  const known = [...KEY_TABLE[place.of.screen], ...EVERYWHERE_ACTIONS];
  const binding = known.find(({ action }) => action === does.action);
  if (binding) act(model, binding, factsOf(model));
}

function leaveTyped(model: Model, place: Place): void {
  if (isFiltered(place)) keepFilter(model, place, '');
  else if (place.screen === 'editor') model.navigation.replace({ ...place, ...NOT_TYPING });
  else ACTIONS.back(model);
}

function keepFilter(model: Model, place: FilteredPlace, filter: string): void {
  model.navigation.replace({ ...place, list: { ...place.list, filter }, typing: null });
}

function withTyping(place: Place, typing: TextEdit): Place {
  // Other letters find something else: the best of it is chosen.
  if (place.screen === 'palette') return { ...place, typing, list: emptyList };
  // What is typed is what Enter takes, until something else is selected again.
  if (place.screen === 'editor') return { ...place, typing, suggestion: null };
  return 'typing' in place ? { ...place, typing } : place;
}
