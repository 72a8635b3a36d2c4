import type { Action, RelationName } from './action.ts';
import type { SqlName } from './sql/cursor.ts';

/** Finds the table or index of a name by the search path; a new one is in its first schema. */
export type Resolve = (name: SqlName | null) => RelationName;

/** A single statement and its actions. */
export interface StatementFacts {
  text: string;
  actions: readonly Action[];
  /** Values of its literals. */
  literals: ReadonlySet<string>;
  /** Rows that the server reports as changed; those that ALTER TABLE of MySQL has copied. */
  affected: number;
}
