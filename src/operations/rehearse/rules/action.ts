/** A relation or type of a statement: `schema.name` as in the facts, or with the first schema of the search path. */
export type RelationName = string;

/** Lock modes of PostgreSQL's tables that block writes of rows, from weak to strong, and the one below them. */
export type PostgresLockMode =
  | 'ROW EXCLUSIVE'
  | 'SHARE UPDATE EXCLUSIVE'
  | 'SHARE'
  | 'SHARE ROW EXCLUSIVE'
  | 'EXCLUSIVE'
  | 'ACCESS EXCLUSIVE';

/** The same of metadata locks of MySQL. */
export type MysqlLockMode =
  | 'SHARED WRITE'
  | 'SHARED UPGRADABLE'
  | 'SHARED READ ONLY'
  | 'SHARED NO WRITE'
  | 'SHARED NO READ WRITE'
  | 'EXCLUSIVE';

export type LockMode = PostgresLockMode | MysqlLockMode;

export interface ColumnDefinition {
  name: string;
  /** In lower case with single spaces: `varchar(20)`. */
  type: string;
  /** Words and symbols of the default in lower case, `null` without one. */
  default: string | null;
  isNotNull: boolean;
  isStored: boolean;
  isIdentity: boolean;
  isPrimary: boolean;
  isUnique: boolean;
  hasCheck: boolean;
  references: RelationName | null;
}

export const WITHOUT_CONSTRAINTS = {
  default: null,
  isNotNull: false,
  isStored: false,
  isIdentity: false,
  isPrimary: false,
  isUnique: false,
  hasCheck: false,
  references: null,
} as const;

export interface ConstraintDefinition {
  name: string | null;
  kind: 'primary' | 'unique' | 'foreign' | 'check' | 'exclusion' | 'not null';
  columns: readonly string[];
  usingIndex: boolean;
  isNotValid: boolean;
  references: RelationName | null;
  /** Words and symbols of a check in lower case. */
  expression: string;
}

interface OnTable {
  table: RelationName;
}

/** One action of a statement; an ALTER TABLE has one or more. */
export type Action =
  | (OnTable & { kind: 'create table'; columns: ColumnDefinition[]; constraints: ConstraintDefinition[] })
  | (OnTable & { kind: 'create index'; index: RelationName; concurrently: boolean })
  | { kind: 'drop index'; table: RelationName | null; index: RelationName; concurrently: boolean }
  | {
      kind: 'reindex';
      what: 'index' | 'table' | 'schema' | 'database' | 'system';
      name: RelationName;
      concurrently: boolean;
    }
  | (OnTable & { kind: 'add column'; column: ColumnDefinition })
  | (OnTable & { kind: 'drop column'; column: string; cascade: boolean })
  | (OnTable & { kind: 'alter type'; column: string; type: string; using: string | null })
  | (OnTable & { kind: 'set not null'; column: string })
  | (OnTable & { kind: 'add constraint'; constraint: ConstraintDefinition })
  | (OnTable & { kind: 'validate constraint'; name: string })
  | (OnTable & { kind: 'drop constraint'; name: string })
  | (OnTable & { kind: 'rename table'; to: RelationName })
  | (OnTable & { kind: 'rename column'; column: string; to: string })
  | { kind: 'drop'; object: 'table' | 'materialized view' | 'view' | 'schema'; names: RelationName[]; cascade: boolean }
  | { kind: 'truncate'; tables: RelationName[]; cascade: boolean }
  | (OnTable & { kind: 'set tablespace' | 'set logged' | 'other' | 'weak' })
  | (OnTable & { kind: 'refresh'; concurrently: boolean })
  | { kind: 'cluster' | 'vacuum full'; tables: RelationName[] }
  | { kind: 'add enum value' | 'rename enum value'; type: string; value: string }
  | (OnTable & { kind: 'update' | 'delete'; hasCondition: boolean })
  | (OnTable & { kind: 'insert'; fromQuery: boolean })
  | { kind: 'lock'; tables: RelationName[]; mode: LockMode }
  | (OnTable & { kind: 'create trigger' | 'drop trigger' | 'switch trigger' })
  | (OnTable & { kind: 'attach partition'; partition: RelationName; isDefault: boolean })
  | (OnTable & { kind: 'detach partition'; partition: RelationName; concurrently: boolean })
  | { kind: 'set'; name: string; value: string; isLocal: boolean }
  | { kind: 'begin' | 'commit' }
  /** Reaches out of the database. */
  | { kind: 'reach' }
  | MysqlAction;

export type ActionOf<Kind extends Action['kind']> = Extract<Action, { kind: Kind }>;

/** Actions that only MySQL and MariaDB have. */
export type MysqlAction =
  | (OnTable & { kind: 'add index'; type: 'plain' | 'unique' | 'fulltext' | 'spatial' })
  | (OnTable & { kind: 'alter column'; column: string; definition: ColumnDefinition; moves: boolean })
  | (OnTable & { kind: 'rebuild' | 'convert' | 'drop primary key' })
  | (OnTable & { kind: 'partition'; change: 'all' | 'some' | 'drop' | 'exchange' | 'add' })
  /** `ALGORITHM=`, `LOCK=` and `WAIT` of a definition. */
  | (OnTable & { kind: 'demand'; what: 'algorithm' | 'lock' | 'wait'; value: string })
  | { kind: 'optimize' | 'flush'; tables: RelationName[] }
  | { kind: 'unlock' };
