import { PAGE_HEAD } from '../../components/page.tsx';
import { editText, insertText, pasteText, type TextEdit } from '../../components/text-edit.ts';
import { keysOfCommand } from '../../src/config/schema/default-keys.ts';
import { interrupt, quit } from '../commands/quit.ts';
import { type BoundKey, bindingsOf, keyName, runBinding } from './keys.ts';
import { positionIn } from './lists/in-view.ts';
import { contextOf, isAtRoot, type KeyBinding, type Model, screenOf } from './model.ts';
import { back, move } from './navigate.ts';
import { type Route, typingAt } from './route.ts';
import type { MouseEvent } from './terminal/mouse.ts';
import { tooLongText, unknownKeyText } from './text.ts';

/** Runs the command of a key on the present route. While text is typed, keys are text. */
export function dispatchKey(model: Model, key: string): void {
  if (key === 'ctrl+c') {
    interrupt(model);
    return;
  }
  model.navigation.notify(null);
  model.messages.seen();
  const typing = typingAt(model.navigation.top());
  if (typing) dispatchTyped(model, typing, key);
  else dispatchBound(model, key);
}

const WHEEL_STEP = 3;

/** The wheel moves as the arrows do; a click selects a row, and opens the one that is selected. */
export function dispatchMouse(model: Model, event: MouseEvent): void {
  const { kind } = event;
  if (kind === 'click') click(model, event);
  else if (kind !== 'other')
    for (let step = 0; step < WHEEL_STEP; step += 1) move(model, kind === 'wheel-up' ? 'up' : 'down');
}

function click(model: Model, { row, column }: Extract<MouseEvent, { kind: 'click' }>): void {
  const route = model.navigation.top();
  const { rows, linesAboveRows } = screenOf(model, route);
  if (!rows || !('list' in route)) return;
  const inView = rows(model, route);
  const { left, right, top } = model.viewport.pane ?? { left: 0, right: Number.POSITIVE_INFINITY, top: 0 };
  if (column < left || column >= right) return;
  const clicked = model.viewport.keys[row - PAGE_HEAD - top - (linesAboveRows?.(route, model) ?? 1)];
  if (clicked === undefined || !inView.ids.includes(clicked)) return;
  if (clicked === inView.ids[positionIn(inView, route.list.selected)]) dispatchKey(model, 'enter');
  else model.navigation.replace({ ...route, list: { ...route.list, selected: clicked } });
}

/** A paste is taken only where text is typed. */
export function dispatchPaste(model: Model, pasted: string): void {
  const route = model.navigation.top();
  const typing = typingAt(route);
  if (typing) changeText(model, route, pasteText(typing, pasted));
}

/** Many characters at once, as by a paste without marks; `false` where they are keys. */
export function dispatchText(model: Model, text: string): boolean {
  const route = model.navigation.top();
  const typing = typingAt(route);
  if (!typing || /[\p{Cc}]/u.test(text)) return false;
  model.navigation.notify(null);
  model.messages.seen();
  changeText(model, route, insertText(typing, text));
  return true;
}

function dispatchBound(model: Model, key: string): void {
  const context = contextOf(model);
  const bindings = bindingsOf(screenOf(model, context.route), context);
  const binding = bindings.find(({ keys }) => keys.includes(key)) ?? quitBinding(model, { key, bindings });
  if (binding) runBinding(model, binding);
  else if (!COMPONENT_KEYS.has(key)) {
    model.navigation.notify({ tone: 'caution', text: unknownKeyText(keyName(key)) });
  }
}

/** The key that quits at the first screen goes back on all others, as Esc does. */
function quitBinding(model: Model, { key, bindings }: { key: string; bindings: BoundKey[] }): KeyBinding | undefined {
  if (!keysOfCommand('quit', model.session.getState().keys).includes(key)) return undefined;
  const back = bindings.find(({ keys }) => keys.includes('esc'));
  return isAtRoot(model) ? { keys: [key], help: 'quit', run: quit } : back;
}

/** Keys of choices, which take them themselves. */
const COMPONENT_KEYS = new Set(['up', 'down', 'j', 'k', 'enter', ...'123456789']);

function dispatchTyped(model: Model, typing: TextEdit, key: string): void {
  const route = model.navigation.top();
  const { onAccept, onLeave, onComplete } = screenOf(model, route);
  const edited = editText(typing, key);
  if (key === 'enter') onAccept?.(model, route);
  else if (key === 'esc') (onLeave ?? back)(model, route);
  else if (edited) changeText(model, route, edited);
  else if (key === 'tab') onComplete?.(model, route);
  // While text is typed, the selection in the list below it, or the plan above it, can be moved.
  else if (Object.hasOwn(MOVES_IN_TEXT, key)) move(model, MOVES_IN_TEXT[key as keyof typeof MOVES_IN_TEXT]);
}

const MOVES_IN_TEXT = { up: 'up', down: 'down', pageup: 'page-up', pagedown: 'page-down' } as const;

/** Characters of a field at most: a pasted file is a mistake. */
const LONGEST_TEXT = 8192;

function changeText(model: Model, route: Route, typing: TextEdit): void {
  const before = typingAt(route)?.text.length ?? 0;
  if (typing.text.length > Math.max(LONGEST_TEXT, before)) {
    model.navigation.notify({ tone: 'caution', text: tooLongText(typing.text.length, LONGEST_TEXT) });
    return;
  }
  const { onText } = screenOf(model, route);
  if (onText) onText(model, route, typing);
  else if ('typing' in route) model.navigation.replace({ ...route, typing });
}
