import type { RehearsalFacts } from '../../../engines/facets/rehearsal-facts.ts';
import type { EngineId } from '../../../engines/list.ts';
import type { Action } from './action.ts';
import type { Situation } from './situation.ts';

/** What a session sent: one statement, or several in one simple query. */
export interface RehearsedStatement {
  text: string;
  engine: EngineId;
  /** Reports whether it ran inside of a transaction that an earlier statement began. */
  inTransaction: boolean;
  /** Distinguishes the sessions of a migration. */
  session?: number;
}

export interface RuleFacts extends RehearsalFacts {
  /** `schema.table` of the tables whose files the migration replaced; `null` when the server does not show it. */
  rewritten: ReadonlySet<string> | null;
}

/** A statement that is dangerous under load: an entry of the tables of rules. */
export interface Rule {
  code: string;
  engine: EngineId;
  /** Statements that it finds, for docs/rehearsal-rules.md. */
  what: string;
  /** What happens under load. */
  text: string;
  safer: string;
  /** The server's documentation. */
  url: string;
  /** The strongest lock on the table, as the server names it; `null` where the danger is not a lock. */
  lock: string | null;
  /** Reports whether the server writes the whole table anew. */
  rewrites: boolean;
  /** Returns the tables in danger, or `none`: the statement is dangerous without one. */
  find(action: Action, situation: Situation): readonly string[] | 'none';
}
