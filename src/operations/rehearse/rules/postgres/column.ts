import { type ColumnDefinition, type ConstraintDefinition, WITHOUT_CONSTRAINTS } from '../action.ts';
import type { SqlCursor } from '../sql/cursor.ts';
import type { Resolve } from '../statement.ts';

const CONSTRAINT_WORDS = 'constraint not null default check unique primary references generated'.split(' ');
const BEHIND_TYPE = [...CONSTRAINT_WORDS, 'collate', 'storage', 'compression', 'using'];

/** Takes `name type constraints`. */
export function takeColumn(cursor: SqlCursor, resolve: Resolve): ColumnDefinition {
  const column: ColumnDefinition = {
    name: cursor.column(),
    type: takeType(cursor),
    ...WITHOUT_CONSTRAINTS,
  };
  while (!cursor.ended) takeColumnConstraint(cursor, column, resolve);
  return column;
}

/** Takes a type, in lower case: `varchar(20)`. */
export function takeType(cursor: SqlCursor): string {
  return cursor.until(...BEHIND_TYPE).text();
}

function takeColumnConstraint(cursor: SqlCursor, column: ColumnDefinition, resolve: Resolve): void {
  if (cursor.words('not', 'null')) column.isNotNull = true;
  else if (cursor.words('primary', 'key')) column.isPrimary = true;
  else if (cursor.words('unique')) column.isUnique = true;
  else if (cursor.words('check')) column.hasCheck = true;
  else if (cursor.words('default', 'null')) return;
  else if (cursor.words('default')) column.default = cursor.until(...BEHIND_TYPE).text();
  else if (cursor.words('references')) column.references = resolve(cursor.name());
  else if (cursor.words('generated')) takeGenerated(cursor, column);
  else cursor.next();
}

function takeGenerated(cursor: SqlCursor, column: ColumnDefinition): void {
  cursor.oneOf('always', 'by default');
  const rest = cursor.until(...CONSTRAINT_WORDS);
  if (rest.has('identity')) column.isIdentity = true;
  else column.isStored = !rest.has('virtual');
}

const KINDS = {
  'primary key': 'primary',
  unique: 'unique',
  check: 'check',
  'foreign key': 'foreign',
  exclude: 'exclusion',
  'not null': 'not null',
} as const;

const KIND_WORDS = Object.keys(KINDS) as (keyof typeof KINDS)[];

/** Takes a constraint of a table with its name; `null` when none follows. */
export function takeConstraint(cursor: SqlCursor, resolve: Resolve): ConstraintDefinition | null {
  const ahead = cursor.copy();
  const name = ahead.words('constraint') ? ahead.column() : null;
  const words = ahead.oneOf(...KIND_WORDS);
  if (!words) return null;
  const kind = KINDS[words];
  const usingIndex = ahead.words('using', 'index');
  ahead.words('nulls', 'not', 'distinct');
  const inner = kind === 'not null' ? null : ahead.group();
  const expression = inner?.copy().text() ?? '';
  const columns = kind === 'not null' ? [ahead.column()] : (inner?.items() ?? []).map((item) => item.column());
  const references = ahead.words('references') ? resolve(ahead.name()) : null;
  const isNotValid = ahead.has('not', 'valid');
  while (!cursor.ended) cursor.next();
  return { name, kind, columns, usingIndex, isNotValid, references, expression };
}
