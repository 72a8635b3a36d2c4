import type { KeyPath } from '../tree.ts';

export type PlainValue = string | number | boolean;

/** A value to set, or a key to take out. */
export interface Edit {
  path: KeyPath;
  value: PlainValue | undefined;
}

/** What stands from `from` to `to` gives way to `by`. */
export interface Replacement {
  from: number;
  to: number;
  by: string;
}
