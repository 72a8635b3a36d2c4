import type { ColumnFacts, RehearsalFacts, TableFacts } from '../../../engines/facets/rehearsal-facts.ts';
import type { LockMode, RelationName } from './action.ts';
import type { StatementFacts } from './statement.ts';

export interface RuleFacts extends RehearsalFacts {
  /** `schema.table` of the tables whose files the migration replaced. */
  rewritten: ReadonlySet<RelationName>;
}

/** The facts that a rule judges an action by. */
export interface Situation {
  facts: RuleFacts;
  statement: StatementFacts;
  transaction: TransactionState;
  /** Reports whether waits for locks are limited at this point of the session. */
  limitsLockWaits: boolean;
  tables: KnownTables;
}

export interface KnownTables {
  /** Returns a table from before the migration that has rows, by its present name. */
  busy(table: RelationName): KnownTable | null;
  /** Reports whether the migration has dropped a view. */
  isDroppedView(view: RelationName): boolean;
  tableOfIndex(index: RelationName): RelationName | null;
  /** Reports whether others write to a table while its rows are copied. */
  isCopiedOnline(table: RelationName): boolean;
  /** All from before the migration that have rows. */
  allBusy(): [RelationName, KnownTable][];
}

export interface KnownTable {
  /** The name before the migration. */
  name: RelationName;
  facts: TableFacts;
  columns: Map<string, ColumnFacts>;
  constraints: Map<string, KnownConstraint>;
}

export interface KnownConstraint {
  definition: string;
  isCheck: boolean;
  isValidated: boolean;
}

export interface TransactionState {
  isOpen: boolean;
  /** Strongest locks on tables with rows that earlier statements took, by present name. */
  locks: Map<RelationName, LockMode>;
  /** `table constraint` of those added as NOT VALID. */
  notValid: Set<string>;
  addedValues: Set<string>;
}

/** Rows from which a statement over all of them is long. */
export const MANY_ROWS = 10_000;
