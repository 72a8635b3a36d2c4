import type { KeyPath } from '../tree.ts';

export type PlainValue = string | number | boolean;

export type NewItem = PlainValue | { [key: string]: PlainValue };

export type NewValue = PlainValue | readonly NewItem[] | null;

/** A new value of a key; `undefined` removes the key. */
export interface Edit {
  path: KeyPath;
  value: NewValue | undefined;
}

export type Change =
  /** A list only where there is none. */
  | { kind: 'set'; path: KeyPath; value: PlainValue | readonly NewItem[] }
  | { kind: 'name'; path: KeyPath }
  /** An item at the end of a list, which is created when missing. */
  | { kind: 'append'; path: KeyPath; value: NewItem }
  | { kind: 'rename'; path: KeyPath; name: string }
  | { kind: 'remove'; path: KeyPath };

export interface TextReplacement {
  from: number;
  to: number;
  by: string;
}
