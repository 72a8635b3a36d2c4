import type { KeyPath } from '../tree.ts';

export type PlainValue = string | number | boolean;

/** An item of a list: a value, or a map with one key. */
export type NewItem = PlainValue | { [key: string]: PlainValue };

/** A value for a new key: also a list, or nothing. */
export type NewValue = PlainValue | readonly NewItem[] | null;

/** A value to set, or a key to remove. */
export interface Edit {
  path: KeyPath;
  value: NewValue | undefined;
}

/** Replaces the text between `from` and `to`. */
export interface Replacement {
  from: number;
  to: number;
  by: string;
}
