import { type ColumnDefinition, type ConstraintDefinition, WITHOUT_CONSTRAINTS } from '../action.ts';
import type { SqlCursor } from '../sql/cursor.ts';
import type { Resolve } from '../statement.ts';

const CONSTRAINT_WORDS = [
  ...['constraint', 'not', 'null', 'default', 'check', 'unique', 'primary', 'key', 'references', 'generated', 'as'],
  ...['auto_increment', 'on', 'comment', 'collate', 'character', 'charset', 'first', 'after', 'invisible', 'visible'],
];

export interface PlacedColumn {
  column: ColumnDefinition;
  /** `FIRST` or `AFTER`. */
  moves: boolean;
}

/** Takes `name type constraints`. */
export function takeColumn(cursor: SqlCursor, resolve: Resolve): PlacedColumn {
  const column: ColumnDefinition = {
    name: columnName(cursor),
    type: cursor.until(...CONSTRAINT_WORDS).text(),
    ...WITHOUT_CONSTRAINTS,
  };
  let moves = false;
  while (!cursor.ended) {
    if (cursor.oneOf('first', 'after')) moves = true;
    else takeColumnConstraint(cursor, column, resolve);
  }
  return { column, moves };
}

/** Names of columns have no case. */
export function columnName(cursor: SqlCursor): string {
  return cursor.column().toLowerCase();
}

function takeColumnConstraint(cursor: SqlCursor, column: ColumnDefinition, resolve: Resolve): void {
  if (cursor.words('not', 'null')) column.isNotNull = true;
  else if (cursor.words('auto_increment')) column.isIdentity = true;
  else if (cursor.words('primary')) column.isPrimary = true;
  else if (cursor.words('unique')) column.isUnique = true;
  else if (cursor.words('check')) column.hasCheck = true;
  else if (cursor.words('default', 'null')) return;
  else if (cursor.words('default')) column.default = cursor.until(...CONSTRAINT_WORDS).text();
  else if (cursor.words('references')) column.references = resolve(cursor.name());
  else if (cursor.words('as')) column.isStored = takesPlace(cursor);
  else cursor.next();
}

function takesPlace(cursor: SqlCursor): boolean {
  cursor.group();
  return cursor.oneOf('stored', 'persistent') !== null;
}

const KINDS = {
  'primary key': 'primary',
  check: 'check',
  'foreign key': 'foreign',
} as const;
const KIND_WORDS = Object.keys(KINDS) as (keyof typeof KINDS)[];

/** Takes a constraint of a table with its name; `null` when none follows. An index is none. */
export function takeConstraint(cursor: SqlCursor, resolve: Resolve): ConstraintDefinition | null {
  const ahead = cursor.copy();
  const isNamed = ahead.words('constraint');
  const name = isNamed && !KIND_WORDS.some((words) => startsWith(ahead, words)) ? ahead.column() : null;
  const words = ahead.oneOf(...KIND_WORDS);
  if (!words) return null;
  // The name of its index may come before.
  const columns = (ahead.group() ?? behindName(ahead).group())?.items().map(columnName) ?? [];
  const references = ahead.past('references') ? resolve(ahead.name()) : null;
  while (!cursor.ended) cursor.next();
  return { name, kind: KINDS[words], columns, usingIndex: false, isNotValid: false, references, expression: '' };
}

function startsWith(cursor: SqlCursor, words: string): boolean {
  return cursor.copy().words(...words.split(' '));
}

function behindName(cursor: SqlCursor): SqlCursor {
  cursor.name();
  return cursor;
}
