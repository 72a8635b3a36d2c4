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
import { type AtPlaces, doAt } from './at-routes.ts';
import { openTarget } from './browse.ts';
import { type Facts, factsOf } from './facts.ts';
import { idsInView } from './ids-in-view.ts';
import type { KeyBinding } from './key-binding.ts';
import { bindingFor, EVERYWHERE_ACTIONS, KEY_TABLE } from './keys.ts';
import type { Model } from './model.ts';
import { type FilteredRoute, isFiltered, type PaletteRoute, type Route, typingAt } from './route.ts';
import type { MouseEvent } from './terminal/mouse.ts';

/** Does what a key means at the present place. While text is typed, keys are text. */
export function dispatchKey(model: Model, key: string): void {
  if (key === 'ctrl+c') {
    interrupt(model);
    return;
  }
  model.navigation.notify(null);
  model.messages.seen();
  const route = model.navigation.top();
  const typing = typingAt(route);
  if (typing) dispatchTyped(model, { route, typing, key });
  else dispatchBound(model, route, key);
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
  const route = model.navigation.top();
  if (!('list' in route)) return;
  const ids = idsInView(model, route);
  // Between the head of the page and the list is what the screen has above its list.
  const clicked = model.viewport.keys[row - PAGE_HEAD - rowsAboveList(route)];
  if (clicked === undefined || !ids.includes(clicked)) return;
  if (clicked === ids[selectedIndex(ids, route.list.selected)]) dispatchKey(model, 'enter');
  else model.navigation.replace({ ...route, list: { ...route.list, selected: clicked } });
}

/** The titles of the columns, and the field of a filter or of the palette. */
function rowsAboveList(route: Route): number {
  if (route.screen === 'palette') return 2;
  return isFiltered(route) && (route.typing !== null || route.list.filter !== '') ? 2 : 1;
}

/** Pasted text: only a text that is being typed takes it. */
export function dispatchPaste(model: Model, pasted: string): void {
  const route = model.navigation.top();
  const typing = typingAt(route);
  if (!typing) return;
  model.navigation.replace(withTyping(route, pasteText(typing, pasted)));
  checkTyped(model);
}

function dispatchBound(model: Model, route: Route, key: string): void {
  const facts = factsOf(model);
  const binding = bindingFor(route.screen, key, facts);
  if (binding) act(model, binding, facts);
}

/** Does what a binding stands for, or says why it cannot be done. */
function act(model: Model, binding: KeyBinding, facts: Facts): void {
  const reason = binding.whyNot?.(facts) ?? null;
  if (reason === null) ACTIONS[binding.action](model);
  else model.navigation.notify({ tone: 'caution', text: reason });
}

interface Typed {
  route: Route;
  typing: TextEdit;
  key: string;
}

function dispatchTyped(model: Model, { route, typing, key }: Typed): void {
  if (key === 'enter') {
    acceptTyped(model, route);
    return;
  }
  if (key === 'esc') {
    leaveTyped(model, route);
    return;
  }
  const edited = editText(typing, key);
  if (edited) {
    model.navigation.replace(withTyping(route, edited));
    checkTyped(model);
  } else if (key === 'tab' && route.screen === 'editor') completeName(model, route);
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

function acceptTyped(model: Model, route: Route): void {
  if (isFiltered(route)) keepFilter(model, route, route.typing?.text.trim() ?? '');
  else doAt(ACCEPTING, model, route);
}

/** Back to where the palette was opened, and there what was chosen. */
function choose(model: Model, route: PaletteRoute): void {
  const entries = entriesInView(model, route);
  const entry = entries.find(({ text }) => text === route.list.selected) ?? entries[0];
  if (!entry) return;
  model.navigation.pop();
  const { does } = entry;
  if ('goTo' in does) {
    openTarget(model, does.goTo);
    return;
  }
  const known = [...KEY_TABLE[route.of.screen], ...EVERYWHERE_ACTIONS];
  const binding = known.find(({ action }) => action === does.action);
  if (binding) act(model, binding, factsOf(model));
}

function leaveTyped(model: Model, route: Route): void {
  if (isFiltered(route)) keepFilter(model, route, '');
  else if (route.screen === 'editor') model.navigation.replace({ ...route, ...NOT_TYPING });
  else ACTIONS.back(model);
}

function keepFilter(model: Model, route: FilteredRoute, filter: string): void {
  model.navigation.replace({ ...route, list: { ...route.list, filter }, typing: null });
}

function withTyping(route: Route, typing: TextEdit): Route {
  // Other letters find something else: the best of it is chosen.
  if (route.screen === 'palette') return { ...route, typing, list: emptyList };
  // What is typed is what Enter takes, until something else is selected again.
  if (route.screen === 'editor') return { ...route, typing, suggestion: null };
  return 'typing' in route ? { ...route, typing } : route;
}
