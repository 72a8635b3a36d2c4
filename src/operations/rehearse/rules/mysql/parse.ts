import type { Action, RelationName } from '../action.ts';
import { SqlCursor, type SqlToken } from '../sql/cursor.ts';
import { type Reader, type Resolve, readActions, readInsert } from '../statement.ts';
import { dropIndex, type IndexType, takeAlterTable } from './alter-table.ts';
import { takeColumn, takeConstraint } from './column.ts';
import { reachOf } from './reach.ts';

/** Reads a statement by its first words; one that no rule knows has no actions. */
export function readMysql(tokens: readonly SqlToken[], resolve: Resolve): Action[] {
  const cursor = new SqlCursor(tokens, (word) => word);
  // MariaDB: SET STATEMENT lock_wait_timeout=1 FOR ALTER TABLE …
  if (cursor.words('set', 'statement')) cursor.past('for');
  if (cursor.words('with')) cursor.until('update', 'delete', 'insert', 'select');
  return [...readActions(cursor, resolve, READERS), ...reachOf(tokens)];
}

/** The key is the first words of a statement; the longer ones come first. */
const READERS: Record<string, Reader> = {
  'alter table': takeAlterTable,
  'alter online table': takeAlterTable,
  'alter ignore table': takeAlterTable,
  'create table': createTable,
  'create or replace table': replaceTable,
  'create or replace trigger': createTrigger,
  'create index': indexOf('plain'),
  'create or replace index': indexOf('plain'),
  'create unique index': indexOf('unique'),
  'create or replace unique index': indexOf('unique'),
  'create fulltext index': indexOf('fulltext'),
  'create spatial index': indexOf('spatial'),
  'create definer': createTrigger,
  'create trigger': createTrigger,
  'drop index': (cursor, resolve) => {
    cursor.words('if', 'exists');
    const ahead = cursor.copy();
    return ahead.past('on') ? [dropIndex(cursor, resolve(ahead.name()))] : [];
  },
  'drop trigger': dropTrigger,
  'drop table': dropTable,
  'drop view': (cursor, resolve) => [{ kind: 'drop', object: 'view', names: names(cursor, resolve), cascade: false }],
  'drop database': dropDatabase,
  'drop schema': dropDatabase,
  'rename table': renameTables,
  'rename tables': renameTables,
  truncate: (cursor, resolve) => {
    cursor.words('table');
    return [{ kind: 'truncate', tables: [resolve(cursor.name())], cascade: false }];
  },
  'optimize table': optimize,
  'optimize local table': optimize,
  'optimize no_write_to_binlog table': optimize,
  'flush tables': flush,
  'flush table': flush,
  'lock tables': lock,
  'lock table': lock,
  'unlock tables': () => [{ kind: 'unlock' }],
  'unlock table': () => [{ kind: 'unlock' }],
  update,
  delete: deleteRows,
  insert,
  replace: insert,
  set: settings,
  use: (cursor) => [{ kind: 'set', name: 'search_path', value: cursor.column(), isLocal: false }],
  begin: () => [{ kind: 'begin' }],
  'start transaction': () => [{ kind: 'begin' }],
  commit: () => [{ kind: 'commit' }],
  rollback: (cursor) => (cursor.has('to') ? [] : [{ kind: 'commit' }]),
};

function createTable(cursor: SqlCursor, resolve: Resolve): Action[] {
  cursor.words('if', 'not', 'exists');
  const table = resolve(cursor.name());
  const columns = [];
  const constraints = [];
  for (const item of cursor.group()?.items() ?? []) {
    const constraint = takeConstraint(item, resolve);
    if (constraint) constraints.push(constraint);
    else if (!item.oneOf('like', 'index', 'key', 'unique', 'fulltext', 'spatial', 'constraint', 'period')) {
      columns.push(takeColumn(item, resolve).column);
    }
  }
  return [{ kind: 'create table', table, columns, constraints }];
}

/** MariaDB drops the one of the name first. */
function replaceTable(cursor: SqlCursor, resolve: Resolve): Action[] {
  const name = resolve(cursor.copy().name());
  return [{ kind: 'drop', object: 'table', names: [name], cascade: false }, ...createTable(cursor, resolve)];
}

function indexOf(type: IndexType): Reader {
  return (cursor, resolve) => (cursor.past('on') ? [{ kind: 'add index', table: resolve(cursor.name()), type }] : []);
}

function createTrigger(cursor: SqlCursor, resolve: Resolve): Action[] {
  const isTrigger = cursor.copy().past('trigger') || cursor.copy().past('before') || cursor.copy().past('after');
  return isTrigger && cursor.past('on') ? [{ kind: 'create trigger', table: resolve(cursor.name()) }] : [];
}

/** The statement does not name its table. */
function dropTrigger(cursor: SqlCursor, resolve: Resolve): Action[] {
  cursor.words('if', 'exists');
  return [{ kind: 'drop trigger', table: resolve(cursor.name()) }];
}

function dropTable(cursor: SqlCursor, resolve: Resolve): Action[] {
  cursor.words('if', 'exists');
  return [{ kind: 'drop', object: 'table', names: names(cursor, resolve), cascade: false }];
}

function dropDatabase(cursor: SqlCursor): Action[] {
  cursor.words('if', 'exists');
  return [{ kind: 'drop', object: 'schema', names: [cursor.column()], cascade: true }];
}

function renameTables(cursor: SqlCursor, resolve: Resolve): Action[] {
  cursor.words('if', 'exists');
  return cursor.items().map((item) => {
    const table = resolve(item.name());
    item.words('to');
    return { kind: 'rename table', table, to: resolve(item.name()) };
  });
}

function optimize(cursor: SqlCursor, resolve: Resolve): Action[] {
  return [{ kind: 'optimize', tables: names(cursor, resolve) }];
}

function flush(cursor: SqlCursor, resolve: Resolve): Action[] {
  const isLocking = cursor.has('with', 'read', 'lock') || cursor.has('for', 'export');
  return isLocking ? [{ kind: 'flush', tables: names(cursor, resolve) }] : [];
}

function lock(cursor: SqlCursor, resolve: Resolve): Action[] {
  return cursor.items().map((item) => {
    const table = resolve(item.name());
    return { kind: 'lock', tables: [table], mode: item.has('write') ? 'SHARED NO READ WRITE' : 'SHARED READ ONLY' };
  });
}

const MODIFIERS = ['low_priority', 'high_priority', 'delayed', 'quick', 'ignore'] as const;

function update(cursor: SqlCursor, resolve: Resolve): Action[] {
  while (cursor.oneOf(...MODIFIERS));
  return [{ kind: 'update', table: resolve(cursor.name()), hasCondition: hasCondition(cursor) }];
}

function deleteRows(cursor: SqlCursor, resolve: Resolve): Action[] {
  while (cursor.oneOf(...MODIFIERS));
  // With several tables, the first is one of an alias maybe.
  if (!cursor.words('from')) cursor.past('from');
  return [{ kind: 'delete', table: resolve(cursor.name()), hasCondition: hasCondition(cursor) }];
}

/** Reports whether a condition or a limit follows. */
function hasCondition(cursor: SqlCursor): boolean {
  if (cursor.has('limit')) return true;
  cursor.until('where');
  if (!cursor.words('where')) return false;
  return !/^\(*(true|1|1=1)\)*(order by|returning|$)/.test(cursor.text());
}

function insert(cursor: SqlCursor, resolve: Resolve): Action[] {
  while (cursor.oneOf(...MODIFIERS));
  cursor.words('into');
  return readInsert(cursor, resolve);
}

/** `SET SESSION a = 1, @@b = 2`. */
function settings(cursor: SqlCursor): Action[] {
  return cursor.items().map((item) => {
    item.symbol('@');
    item.symbol('@');
    const isGlobal = item.words('global');
    item.oneOf('session', 'local');
    item.symbol('.');
    const name = item.column().toLowerCase();
    item.symbol(':');
    item.symbol('=');
    return { kind: 'set', name: isGlobal ? `global ${name}` : name, value: item.text(), isLocal: false };
  });
}

function names(cursor: SqlCursor, resolve: Resolve): RelationName[] {
  const found = [];
  do {
    const name = cursor.name();
    if (name) found.push(resolve(name));
  } while (cursor.symbol(','));
  return found;
}
