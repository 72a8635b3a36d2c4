import { splitName, tableName } from '../../../../text/table-names.ts';
import type { Action, RelationName } from '../action.ts';
import type { SqlCursor } from '../sql/cursor.ts';
import type { Resolve } from '../statement.ts';
import { takeColumn, takeConstraint, takeType } from './column.ts';

/** Options that take a weak lock. https://www.postgresql.org/docs/current/sql-altertable.html */
const WEAK = ['set statistics', 'set(', 'reset(', 'cluster on', 'set without cluster', 'set compression'] as const;

/** Takes what follows `ALTER TABLE`. */
export function takeAlterTable(cursor: SqlCursor, resolve: Resolve): Action[] {
  cursor.words('if', 'exists');
  cursor.words('only');
  const table = resolve(cursor.name());
  cursor.symbol('*');
  return cursor.items().map((item) => actionOf(item, table, resolve));
}

function actionOf(cursor: SqlCursor, table: RelationName, resolve: Resolve): Action {
  return (
    takeAdd(cursor, table, resolve) ??
    takeDrop(cursor, table) ??
    takeAlterColumn(cursor, table) ??
    takeRename(cursor, table) ??
    takePartition(cursor, table, resolve) ??
    takeOption(cursor, table)
  );
}

function takeAdd(cursor: SqlCursor, table: RelationName, resolve: Resolve): Action | null {
  if (!cursor.words('add')) return null;
  const constraint = takeConstraint(cursor, resolve);
  if (constraint) return { kind: 'add constraint', table, constraint };
  cursor.words('column');
  cursor.words('if', 'not', 'exists');
  return { kind: 'add column', table, column: takeColumn(cursor, resolve) };
}

function takeDrop(cursor: SqlCursor, table: RelationName): Action | null {
  if (!cursor.words('drop')) return null;
  if (cursor.words('constraint')) {
    cursor.words('if', 'exists');
    return { kind: 'drop constraint', table, name: cursor.column() };
  }
  cursor.words('column');
  cursor.words('if', 'exists');
  return { kind: 'drop column', table, column: cursor.column(), cascade: cursor.words('cascade') };
}

function takeAlterColumn(cursor: SqlCursor, table: RelationName): Action | null {
  if (!cursor.words('alter')) return null;
  if (cursor.words('constraint')) return { kind: 'other', table };
  cursor.words('column');
  const column = cursor.column();
  if (cursor.words('set', 'not', 'null')) return { kind: 'set not null', table, column };
  if (cursor.words('set', 'data', 'type') || cursor.words('type')) {
    const type = takeType(cursor);
    const using = cursor.past('using') ? cursor.text() : null;
    return { kind: 'alter type', table, column, type, using };
  }
  if (cursor.words('set', 'default')) return { kind: 'other', table };
  return takeOption(cursor, table);
}

function takeRename(cursor: SqlCursor, table: RelationName): Action | null {
  if (cursor.words('set', 'schema')) {
    return { kind: 'rename table', table, to: `${tableName(cursor.column(), '')}${splitName(table).rest}` };
  }
  if (!cursor.words('rename')) return null;
  if (cursor.words('constraint')) return { kind: 'other', table };
  if (cursor.words('to'))
    return { kind: 'rename table', table, to: tableName(splitName(table).schema, cursor.column()) };
  cursor.words('column');
  const column = cursor.column();
  cursor.words('to');
  return { kind: 'rename column', table, column, to: cursor.column() };
}

function takePartition(cursor: SqlCursor, table: RelationName, resolve: Resolve): Action | null {
  if (cursor.words('attach', 'partition')) {
    const partition = resolve(cursor.name());
    return { kind: 'attach partition', table, partition, isDefault: cursor.words('default') };
  }
  if (!cursor.words('detach', 'partition')) return null;
  const partition = resolve(cursor.name());
  return { kind: 'detach partition', table, partition, concurrently: cursor.words('concurrently') };
}

function takeOption(cursor: SqlCursor, table: RelationName): Action {
  if (cursor.words('validate', 'constraint')) return { kind: 'validate constraint', table, name: cursor.column() };
  if (cursor.words('set', 'tablespace')) return { kind: 'set tablespace', table };
  if (cursor.oneOf('set logged', 'set unlogged')) return { kind: 'set logged', table };
  const trigger = cursor.oneOf('enable', 'disable');
  if (trigger && cursor.has('trigger')) return { kind: 'switch trigger', table };
  const text = cursor.text();
  const isWeak = WEAK.some((words) => text.startsWith(words));
  return isWeak ? { kind: 'weak', table } : { kind: 'other', table };
}
