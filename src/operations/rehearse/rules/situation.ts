import type { ColumnFacts, ConstraintFacts, TableFacts } from '../../../engines/facets/rehearsal-facts.ts';
import type { LockMode, Resolved } from './action.ts';
import type { RuleFacts } from './rule.ts';
import type { ParsedStatement } from './statement.ts';

/** What a rule knows when it sees an action. */
export interface Situation {
  facts: RuleFacts;
  /** Numbers of the server's version. */
  version: readonly number[];
  statement: ParsedStatement;
  transaction: TransactionState;
  /** Reports whether waits for locks are limited at this point of the session. */
  limitsLockWaits: boolean;
  /** Reports whether foreign keys are checked (`foreign_key_checks` of MySQL). */
  checksForeignKeys: boolean;
  /** A table that was there before the migration, under its present name. */
  known(table: Resolved): KnownTable | null;
  /** As `known`, when the table has rows. */
  busy(table: Resolved): KnownTable | null;
  tableOfIndex(index: Resolved): Resolved | null;
  tables(): Iterable<[Resolved, KnownTable]>;
}

export interface KnownTable {
  /** The name before the migration. */
  name: string;
  facts: TableFacts;
  columns: Map<string, ColumnFacts>;
  constraints: Map<string, ConstraintFacts>;
}

export interface TransactionState {
  isOpen: boolean;
  /** Strongest locks on tables with rows that are held, by present name. */
  locks: Map<Resolved, LockMode>;
  /** `table constraint` of those added as NOT VALID. */
  notValid: Set<string>;
  addedValues: Set<string>;
  /** Reports whether rows were changed. */
  hasChanges: boolean;
}

/** Rows from which a statement over all of them is long. */
export const MANY_ROWS = 10_000;
