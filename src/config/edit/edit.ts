import type { KeyPath } from '../tree.ts';

export type PlainValue = string | number | boolean;

/** An item of a list: a value, or a map with the one key that it needs. */
export type NewItem = PlainValue | { [key: string]: PlainValue };

/** What a key that is not there yet may get: also a list, or nothing. */
export type NewValue = PlainValue | readonly NewItem[] | null;

/** A value to set, or a key to take out. */
export interface Edit {
  path: KeyPath;
  value: NewValue | undefined;
}

/** What stands from `from` to `to` gives way to `by`. */
export interface Replacement {
  from: number;
  to: number;
  by: string;
}
