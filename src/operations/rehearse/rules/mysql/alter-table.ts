import { splitName, tableName } from '../../../../text/table-names.ts';
import type { Action, RelationName } from '../action.ts';
import type { SqlCursor } from '../sql/cursor.ts';
import type { Resolve } from '../statement.ts';
import { columnName, takeColumn, takeConstraint } from './column.ts';

/** Takes what follows `ALTER TABLE`. */
export function takeAlterTable(cursor: SqlCursor, resolve: Resolve): Action[] {
  cursor.words('if', 'exists');
  const table = resolve(cursor.name());
  return [...takeWait(cursor, table), ...cursor.items().flatMap((item) => actionsOf(item, table, resolve))];
}

/** `NOWAIT` or `WAIT 5`, of MariaDB. */
function takeWait(cursor: SqlCursor, table: RelationName): Action[] {
  const word = cursor.oneOf('wait', 'nowait');
  if (!word) return [];
  return [{ kind: 'demand', table, what: 'wait', value: word === 'wait' ? (cursor.next()?.value ?? '') : '0' }];
}

function actionsOf(cursor: SqlCursor, table: RelationName, resolve: Resolve): Action[] {
  const action =
    takeAdd(cursor, table, resolve) ??
    takeDrop(cursor, table) ??
    takeChange(cursor, table, resolve) ??
    takeRename(cursor, table, resolve) ??
    takePartition(cursor, table);
  return Array.isArray(action) ? action : [action ?? takeOption(cursor, table)];
}

export type IndexType = Extract<Action, { kind: 'add index' }>['type'];

function takeAdd(cursor: SqlCursor, table: RelationName, resolve: Resolve): Action | Action[] | null {
  if (!cursor.words('add')) return null;
  if (cursor.words('partition')) return { kind: 'partition', table, change: 'add' };
  const constraint = takeConstraint(cursor, resolve);
  if (constraint) return { kind: 'add constraint', table, constraint };
  const ahead = cursor.copy();
  // A unique constraint may have a name of its own.
  if (ahead.words('constraint') && !ahead.copy().words('unique')) ahead.name();
  const type: IndexType = ahead.oneOf('unique', 'fulltext', 'spatial') ?? 'plain';
  if (ahead.oneOf('index', 'key') || type !== 'plain') return { kind: 'add index', table, type };
  cursor.words('column');
  cursor.words('if', 'not', 'exists');
  const group = cursor.group();
  const items = group ? group.items() : [cursor];
  return items.map((item) => ({ kind: 'add column', table, column: takeColumn(item, resolve).column }));
}

function takeDrop(cursor: SqlCursor, table: RelationName): Action | null {
  if (!cursor.words('drop')) return null;
  if (cursor.words('primary', 'key')) return { kind: 'drop primary key', table };
  if (cursor.words('partition')) return { kind: 'partition', table, change: 'drop' };
  const object = cursor.oneOf('constraint', 'foreign key', 'check', 'index', 'key');
  if (!object) cursor.words('column');
  cursor.words('if', 'exists');
  if (object === 'index' || object === 'key') return dropIndex(cursor, table);
  if (object) return { kind: 'drop constraint', table, name: cursor.column() };
  return { kind: 'drop column', table, column: columnName(cursor), cascade: false };
}

export function dropIndex(cursor: SqlCursor, table: RelationName): Action {
  const index = tableName(splitName(table).schema, cursor.column());
  return { kind: 'drop index', table, index, concurrently: false };
}

function takeChange(cursor: SqlCursor, table: RelationName, resolve: Resolve): Action | null {
  const word = cursor.oneOf('modify', 'change');
  if (!word) return null;
  cursor.words('column');
  cursor.words('if', 'exists');
  const old = word === 'change' ? columnName(cursor) : null;
  const { column, moves } = takeColumn(cursor, resolve);
  return { kind: 'alter column', table, column: old ?? column.name, definition: column, moves };
}

function takeRename(cursor: SqlCursor, table: RelationName, resolve: Resolve): Action | null {
  if (!cursor.words('rename')) return null;
  if (cursor.oneOf('index', 'key')) return { kind: 'weak', table };
  if (!cursor.words('column')) {
    cursor.oneOf('to', 'as');
    return { kind: 'rename table', table, to: resolve(cursor.name()) };
  }
  cursor.words('if', 'exists');
  const column = columnName(cursor);
  cursor.words('to');
  return { kind: 'rename column', table, column, to: columnName(cursor) };
}

type PartitionChange = Extract<Action, { kind: 'partition' }>['change'];

const PARTITIONS: Record<string, PartitionChange> = {
  'partition by': 'all',
  'remove partitioning': 'all',
  'reorganize partition': 'some',
  'coalesce partition': 'some',
  'rebuild partition': 'some',
  'optimize partition': 'some',
  'truncate partition': 'drop',
  'exchange partition': 'exchange',
};

function takePartition(cursor: SqlCursor, table: RelationName): Action | null {
  const words = cursor.oneOf(...Object.keys(PARTITIONS));
  const change = words && PARTITIONS[words];
  return change ? { kind: 'partition', table, change } : null;
}

/** Options of a table that write it anew. https://dev.mysql.com/doc/refman/en/innodb-online-ddl-operations.html#online-ddl-table-operations */
const REBUILDING = [
  ...['engine', 'force', 'row_format', 'key_block_size', 'encryption', 'encrypted', 'page_compressed', 'order by'],
] as const;

function takeOption(cursor: SqlCursor, table: RelationName): Action {
  const what = cursor.oneOf('algorithm', 'lock');
  if (what) {
    cursor.symbol('=');
    return { kind: 'demand', table, what, value: (cursor.next()?.value ?? '').toLowerCase() };
  }
  if (cursor.words('convert')) return { kind: 'convert', table };
  return cursor.oneOf(...REBUILDING) ? { kind: 'rebuild', table } : { kind: 'weak', table };
}
