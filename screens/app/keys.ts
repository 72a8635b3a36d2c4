import { textEdit } from '../../components/text-edit.ts';
import { commandKeyName } from '../../src/config/keys/keys-in-effect.ts';
import { type ConfiguredKeys, isCommandKey, KEY_COMMANDS } from '../../src/config/schema/default-keys.ts';
import { emptyList, type Move } from '../../src/state/list.ts';
import { confirmTrust } from '../commands/configuration/trust.ts';
import { refreshHistory } from './lists/activity.ts';
import { refreshTargets } from './lists/refresh.ts';
import {
  contextOf,
  type KeyBinding,
  type KeyContext,
  type Keys,
  type Model,
  type ScreenModule,
  screenOf,
} from './model.ts';
import { back, move } from './navigate.ts';
import type { Route } from './route.ts';
import { mouseText } from './text.ts';

// Keys of many screens.

export const BACK: KeyBinding = {
  keys: ['esc', 'left'],
  label: 'back',
  help: 'go back, as q does',
  run: back,
  stays: true,
};

/** Leaves a question or a text. */
export const CANCEL: KeyBinding = { ...BACK, label: 'cancel', help: 'back; nothing is changed' };

/** For questions, whose answers take the keys themselves. */
export const CHOOSING: KeyBinding[] = [
  { keys: ['up', 'down', 'j', 'k'], shown: '↑↓', label: 'choose', help: 'choose an answer', run() {} },
  { keys: ['enter'], label: 'confirm', help: 'give the chosen answer', run() {}, stays: true },
];

export const PAGES: KeyBinding[] = [
  moving('page-up', { keys: ['pageup', 'ctrl+b'], help: 'a page up' }),
  moving('page-down', { keys: ['pagedown', 'ctrl+f'], help: 'a page down' }),
  moving('first', { keys: ['home', 'g'], help: 'to the beginning' }),
  moving('last', { keys: ['end', 'G'], help: 'to the end' }),
];

/** For screens where Tab has a meaning of its own. */
export const MOVES_WITHOUT_TAB: KeyBinding[] = [
  moving('up', { keys: ['up', 'k'], help: 'up' }),
  moving('down', { keys: ['down', 'j'], help: 'down' }),
  ...PAGES,
];

export const MOVES: KeyBinding[] = [
  moving('up', { keys: ['up', 'k', 'shift+tab'], help: 'up' }),
  moving('down', { keys: ['down', 'j', 'tab'], help: 'down' }),
  ...PAGES,
];

export function moving(
  direction: Move,
  binding: Pick<KeyBinding, 'help' | 'label' | 'when'> & { keys: Keys },
): KeyBinding {
  return { ...binding, run: (model) => move(model, direction) };
}

export const HELP: KeyBinding = {
  id: 'help',
  label: 'help',
  help: 'show these keys',
  run: ({ navigation }, route) =>
    navigation.push({ screen: 'help', of: route, scrolled: 0, typing: null, list: emptyList }),
  stays: true,
  palette: false,
};

export const PALETTE: KeyBinding = {
  id: 'palette',
  label: 'commands',
  help: 'search commands, targets, snapshots, settings and themes by name',
  run: ({ navigation, operations }, route) => {
    navigation.push({ screen: 'palette', of: route, typing: textEdit(), list: emptyList, settings: [] });
    void operations.listSettings().then((settings) => {
      navigation.change((other) => (other.screen === 'palette' ? { ...other, settings } : other));
    });
  },
  palette: false,
};

/** The keys at the end of every list. */
export const LIST_KEYS: KeyBinding[] = [PALETTE, HELP, ...MOVES];

export const ACTIVITY: KeyBinding = {
  id: 'activity',
  label: 'activity',
  help: 'runs in progress, queued and ended, messages, and what earlier sessions and scripts did',
  palette: 'Open activity',
  run: (model, route) => {
    // The list of targets has the activity of all; a screen of one target that of the target.
    const of = 'target' in route && typeof route.target === 'string' ? route.target : null;
    model.navigation.push({ screen: 'activity', of, list: emptyList, typing: null });
    void refreshHistory(model);
  },
};

export const REFRESH: KeyBinding = {
  id: 'refresh',
  label: 'refresh',
  help: 'refresh',
  palette: 'Refresh',
  run: (model, route) => {
    const refreshed = screenOf(model, route).onRefresh?.(model, route) ?? refreshTargets(model);
    void refreshed.then(() => confirmTrust(model));
  },
};

/** Off until asked for: while it is on, the terminal cannot select text. */
export const MOUSE: KeyBinding = {
  id: 'mouse',
  help: 'turn the mouse on or off: wheel and clicks instead of text selection',
  run: ({ mouse, terminal, navigation }) => {
    mouse.on = !mouse.on;
    terminal.mouse(mouse.on);
    navigation.notify({ tone: 'good', text: mouseText(mouse.on) });
  },
  palette: 'Turn mouse on or off',
};

/** Keys that mean the same on every screen, typed text included; they are shown in the help only. */
export const EVERYWHERE: { keys: string; help: string }[] = [
  { keys: 'ctrl+c', help: 'cancel the run in progress; twice within two seconds: quit' },
  { keys: 'ctrl+z', help: 'suspend, until `fg`' },
];

export type BoundKey = KeyBinding & { keys: Keys };

/** The bindings that have a meaning now. */
export function bindingsOf(screen: ScreenModule, context: KeyContext): BoundKey[] {
  return bindingsWithKeys(screen, context.model).filter(({ when }) => when?.(context) ?? true);
}

export function bindingsWithKeys({ keys }: ScreenModule, { session }: Model): BoundKey[] {
  const configured = session.getState().keys;
  return keys.map((binding) => ({ ...binding, keys: keysOf(binding, configured) }));
}

/** A configured key replaces the characters; Enter, arrows and the like stay. */
export function keysOf({ id, keys }: KeyBinding, configured: ConfiguredKeys = {}): Keys {
  if (id === undefined) return keys;
  const own = keys ?? KEY_COMMANDS[id].keys;
  const key = configured[id];
  return key === undefined ? own : [key, ...own.filter((other) => !isCommandKey(other))];
}

/** Runs the command of a binding on the present route, or shows why it is disabled. */
export function runBinding(model: Model, binding: KeyBinding): void {
  const route: Route = model.navigation.top();
  const reason = binding.whyNot?.(contextOf(model, route)) ?? null;
  if (reason === null) binding.run(model, route);
  else model.navigation.notify({ tone: 'caution', text: reason });
}

/** A key as people write it. */
export function keyName(key: string): string {
  const names: Record<string, string> = {
    up: '↑',
    down: '↓',
    left: '←',
    right: '→',
    enter: 'Enter',
    esc: 'Esc',
    pageup: 'PgUp',
    pagedown: 'PgDn',
    home: 'Home',
    end: 'End',
    delete: 'Del',
    space: 'Space',
    tab: 'Tab',
    'shift+tab': 'Shift-Tab',
  };
  return names[key] ?? commandKeyName(key);
}
