import type { KeyPath } from '../tree.ts';
import type { NewItem, PlainValue } from './edit.ts';

/** One step of editing a configuration by hand. */
export type Change =
  | { kind: 'set'; path: KeyPath; value: PlainValue }
  /** A name in a map, such as a target's, that says nothing yet. */
  | { kind: 'name'; path: KeyPath }
  /** An item at the end of a list, which is made when it is not there. */
  | { kind: 'append'; path: KeyPath; value: NewItem }
  | { kind: 'rename'; path: KeyPath; name: string }
  /** A key with all that is in it, or an item of a list. */
  | { kind: 'remove'; path: KeyPath };
