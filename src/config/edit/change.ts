import type { KeyPath } from '../tree.ts';
import type { NewItem, PlainValue } from './edit.ts';

export type Change =
  | { kind: 'set'; path: KeyPath; value: PlainValue }
  | { kind: 'name'; path: KeyPath }
  /** An item at the end of a list, which is created when missing. */
  | { kind: 'append'; path: KeyPath; value: NewItem }
  | { kind: 'rename'; path: KeyPath; name: string }
  | { kind: 'remove'; path: KeyPath };
