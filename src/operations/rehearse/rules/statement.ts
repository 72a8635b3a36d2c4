import type { Action, RelationName } from './action.ts';
import type { SqlCursor, SqlName } from './sql/cursor.ts';
import type { StatementTokens } from './sql/split.ts';

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

/** Reads what follows the first words of a statement. */
export type Reader = (cursor: SqlCursor, resolve: Resolve) => Action[];

/** Reads a statement by its first words; one that no rule knows has no actions. */
export function readActions(cursor: SqlCursor, resolve: Resolve, readers: Record<string, Reader>): Action[] {
  const words = cursor.oneOf(...Object.keys(readers));
  return (words !== null && readers[words]?.(cursor, resolve)) || [];
}

export function statementFacts(
  { text, tokens }: StatementTokens,
  { actions, affected = 0 }: { actions: Action[]; affected: number | undefined },
): StatementFacts {
  const literals = new Set(tokens.filter(({ kind }) => kind === 'text').map(({ value }) => value));
  return { text, actions, literals, affected };
}

/** Takes the table of `INSERT INTO`, and looks for a query behind it. */
export function readInsert(cursor: SqlCursor, resolve: Resolve): Action[] {
  const table = resolve(cursor.name());
  return [{ kind: 'insert', table, fromQuery: cursor.has('select') || cursor.has('table') }];
}
