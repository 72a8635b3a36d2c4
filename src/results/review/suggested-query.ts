/** A suggested query in parts: plain data, from which the query is written with or without a column. */
export interface SuggestedQuery {
  heading: string;
  /** SQL that defines the functions of the replacements. */
  functions: string;
  tables: SuggestedTable[];
  /** Dropped before the changes, and recreated after them when one of their columns changes. */
  keys: SuggestedKey[];
  /** The statements before the keys are recreated, where any are. */
  beforeKeys: string[];
  /** The last statements. */
  closing: string[];
  remarks: { triggers: string; keys: string; end: string };
}

export interface SuggestedTable {
  /** In SQL. */
  name: string;
  columns: SuggestedColumn[];
  /** Silence the triggers of the table, and the reverse. */
  before: string[];
  after: string[];
  /** Assignments to columns that the server would change; omitted where the column itself is changed. */
  unchanged: { column: string; sql: string }[];
}

export interface SuggestedColumn {
  /** `schema.table.column` */
  column: string;
  /** In SQL, and so for the comment that keeps it. */
  name: string;
  path: string;
  meaning: string;
  generated: boolean;
  /** SQL of the new value; `null` where a person must choose it. */
  replacement: string | null;
  /** Columns that a foreign key makes change alike. */
  partners: string[];
}

export interface SuggestedKey {
  columns: string[];
  drop: string;
  add: string;
}

/** A choice for a column that differs from its suggested replacement. */
export type ColumnChoice =
  | { action: 'replace'; sql: string }
  /** With a reason, a comment keeps the column; without one it stays a finding. */
  | { action: 'leave'; reason: string };

/** By column name; a column without an entry gets its suggested replacement. */
export type ColumnChoices = Record<string, ColumnChoice>;

/** SQL of the new value; `null` where the column is left as it is. */
export function chosenSql({ column, replacement: suggested, generated }: SuggestedColumn, choices: ColumnChoices) {
  const choice = Object.hasOwn(choices, column) ? choices[column] : undefined;
  if (generated || choice?.action === 'leave') return null;
  return choice?.action === 'replace' ? choice.sql : suggested;
}
