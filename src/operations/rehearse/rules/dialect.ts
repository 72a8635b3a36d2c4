import type { Action, LockMode, RelationName } from './action.ts';
import type { Rule } from './rule.ts';
import type { Situation } from './situation.ts';
import type { SqlToken } from './sql/cursor.ts';
import type { StatementTokens } from './sql/split.ts';
import type { Resolve } from './statement.ts';

export interface TableLock {
  table: RelationName;
  mode: LockMode;
}

/** The part of a situation that locks depend on. */
export type LockSituation = Pick<Situation, 'tables' | 'statement'>;

/** The grammar, locks and rules of an engine. */
export interface Dialect {
  rules: readonly Rule[];
  /** A rewrite in fact that no rule explains. */
  rewritten: Rule;
  split(sql: string): StatementTokens[];
  read(tokens: readonly SqlToken[], resolve: Resolve): Action[];
  locksOf(action: Action, situation: LockSituation): TableLock[];
  /** The effect of a rule on a table whose rows are copied online. */
  onlineText?(text: string): string;
  /** Lock modes, weakest first; the first one is that of statements that change rows. */
  modes: readonly LockMode[];
  /** Returns who waits for a lock of the mode: readers mean writers as well. */
  blockedBy(mode: string): 'readers' | 'writers' | 'none';
  /** The setting that limits waits for locks; its value has no limit where `limits` says so. */
  waitSetting: { name: string; limits(value: string): boolean };
  /** Reports whether the schema of a table is its database. */
  isSchemaDatabase: boolean;
  /** Reports whether the server runs the statements of one query as one transaction. */
  isOneTransaction: boolean;
  /** Reports whether a transaction ends with the action, and its locks with the statement. */
  commits(action: Action): boolean;
  /** Reports whether tables stay locked after the statement, whatever transactions do; and whether it unlocks them. */
  holdsTables(action: Action): boolean;
  unlocksTables(action: Action): boolean;
}

export function isAtLeast({ modes }: Dialect, mode: LockMode, other: LockMode): boolean {
  return modes.indexOf(mode) >= modes.indexOf(other);
}
