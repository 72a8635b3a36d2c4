import type { KeyPath } from '../tree.ts';

export type PlainValue = string | number | boolean;

export type NewItem = PlainValue | { [key: string]: PlainValue };

export type NewValue = PlainValue | readonly NewItem[] | null;

export interface Edit {
  path: KeyPath;
  value: NewValue | undefined;
}

export interface TextReplacement {
  from: number;
  to: number;
  by: string;
}
