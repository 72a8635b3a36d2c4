import type { Action, LockMode, RelationName } from './action.ts';
import type { Situation } from './situation.ts';

/** A text that a session sent: one statement, or several in one simple query. */
export interface MigrationStatement {
  text: string;
  /** Reports whether it ran in a transaction that an earlier statement began. */
  inTransaction: boolean;
  /** Number of the session. */
  session: number;
  /** Rows that each of its results reports as changed, of MySQL. */
  affected?: readonly number[];
}

/** A statement that is dangerous under load: an entry of the tables of rules. */
export interface Rule {
  code: string;
  /** Statements that it finds, for docs/rehearsal-rules.md, where the code does not say it. */
  what?: string;
  /** The effect under load. */
  text: string;
  safer: string;
  /** The server's documentation. */
  url: string;
  /** MariaDB's documentation, of rules for MySQL. */
  mariadbUrl?: string;
  /** The lock on the table; `null` where the danger is not a lock. */
  lock: LockMode | null;
  /** Reports whether the server writes the whole table anew. */
  rewrites?: true;
  /** Reported for the first statement of a session only. */
  isOnce?: true;
  /** Returns the tables in danger; an empty name where there is none. */
  find(action: Action, situation: Situation): readonly RelationName[];
}
