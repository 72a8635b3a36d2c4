import type { Facts } from './facts.ts';

/** A key of a screen, as data: the key bar, the help and docs/screens.md are made from these. */
export interface KeyBinding {
  /** The first is the one that is shown. */
  keys: [string, ...string[]];
  action: Action;
  /** In the key bar; without one the key is in the help only. */
  label?: string;
  help: string;
  /** Whether the key is there at all. */
  when?: (facts: Facts) => boolean;
  /** Why the key cannot be used now, though it is there; `null` when it can. */
  whyNot?: (facts: Facts) => string | null;
  /** Stays in the key bar when others have no room. */
  stays?: boolean;
}

export type Action =
  | 'move-up'
  | 'move-down'
  | 'page-up'
  | 'page-down'
  | 'move-first'
  | 'move-last'
  | 'open'
  | 'back'
  | 'filter'
  | 'clear-filter'
  | 'refresh'
  | 'build'
  | 'load'
  | 'load-latest'
  | 'verify'
  | 'sanitize'
  | 'coverage'
  | 'subset'
  | 'make-subset'
  | 'exclude-table'
  | 'copy-table'
  | 'larger-share'
  | 'smaller-share'
  | 'save-subset'
  | 'edit-query'
  | 'remove'
  | 'note'
  | 'undo'
  | 'mark'
  | 'compare'
  | 'push'
  | 'pull'
  | 'export'
  | 'sort'
  | 'copy'
  | 'doctor'
  | 'show-fix'
  | 'edit-finding'
  | 'set-up'
  | 'edit-configuration'
  | 'other-pane'
  | 'fold'
  | 'add-entry'
  | 'rename-entry'
  | 'remove-entry'
  | 'undo-edit'
  | 'problems'
  | 'save'
  | 'sign-in'
  | 'sign-in-by-code'
  | 'copy-sign-in-url'
  | 'cancel-run'
  | 'retry'
  | 'save-log'
  | 'tasks'
  | 'messages'
  | 'palette'
  | 'mouse'
  | 'help'
  | 'quit';
