import { splitName, tableName } from '../../../../text/table-names.ts';
import type { Action, PostgresLockMode, RelationName } from '../action.ts';
import { SqlCursor, type SqlToken } from '../sql/cursor.ts';
import { splitTokens } from '../sql/split.ts';
import { type Reader, type Resolve, readActions, readInsert } from '../statement.ts';
import { takeAlterTable } from './alter-table.ts';
import { takeColumn, takeConstraint } from './column.ts';
import { callsOut, reachOf } from './reach.ts';
import { postgresTokens } from './tokens.ts';

/** Reads a statement by its first words; one that no rule knows has no actions. */
export function readPostgres(tokens: readonly SqlToken[], resolve: Resolve): Action[] {
  if (tokens[0]?.kind === 'word' && tokens[0].value.toLowerCase() === 'do') return blockActions(tokens, resolve);
  const cursor = new SqlCursor(tokens, (word) => word.toLowerCase());
  if (cursor.words('with')) cursor.until('update', 'delete', 'insert', 'select');
  return [...readActions(cursor, resolve, READERS), ...reachOf(tokens)];
}

const OPENS_STATEMENT = new Set(['begin', 'then', 'else', 'loop']);
const IN_BLOCKS = new Set([
  'alter',
  'create',
  'drop',
  'update',
  'delete',
  'insert',
  'truncate',
  'lock',
  'with',
  'grant',
  'revoke',
  'copy',
]);

/** The statements in the body of `DO`; those that it puts together at run time are not known. */
function blockActions(tokens: readonly SqlToken[], resolve: Resolve): Action[] {
  const body = tokens.find(({ kind }) => kind === 'text')?.value ?? '';
  const words = postgresTokens(body);
  const actions = splitTokens(body, words).flatMap(({ tokens: own }) => {
    const from = own.findIndex((token, at) => {
      const before = own[at - 1];
      const isFirst = !before || (before.kind === 'word' && OPENS_STATEMENT.has(before.value.toLowerCase()));
      return isFirst && token.kind === 'word' && IN_BLOCKS.has(token.value.toLowerCase());
    });
    return from === -1 ? [] : readPostgres(own.slice(from), resolve);
  });
  return callsOut(words) ? [{ kind: 'reach' }, ...actions] : actions;
}

/** The key is the first words of a statement. */
const READERS: Record<string, Reader> = {
  'alter table': takeAlterTable,
  'alter type': alterType,
  'create index': createIndex,
  'create unique index': createIndex,
  'create table': createTable,
  'create unlogged table': createTable,
  'create trigger': createTrigger,
  'create constraint trigger': createTrigger,
  'create or replace trigger': createTrigger,
  'drop index': dropIndex,
  'drop trigger': dropTrigger,
  'drop table': (cursor, resolve) => drop(cursor, resolve, 'table'),
  'drop materialized view': (cursor, resolve) => drop(cursor, resolve, 'materialized view'),
  'drop view': (cursor, resolve) => drop(cursor, resolve, 'view'),
  'drop schema': dropSchemas,
  'create policy': onTable,
  'drop policy': onTable,
  'create rule': (cursor, resolve) => (cursor.past('to') ? [{ kind: 'other', table: resolve(cursor.name()) }] : []),
  'comment on': comment,
  reindex,
  'refresh materialized view': refresh,
  truncate,
  cluster: (cursor, resolve) => [{ kind: 'cluster', tables: clustered(cursor, resolve) }],
  vacuum,
  update,
  'delete from': deleteRows,
  'insert into': readInsert,
  lock,
  set: setting,
  reset: (cursor) => [{ kind: 'set', name: cursor.column(), value: 'default', isLocal: false }],
  'select set_config': setConfig,
  'select pg_catalog.set_config': setConfig,
  begin: () => [{ kind: 'begin' }],
  'start transaction': () => [{ kind: 'begin' }],
  commit: () => [{ kind: 'commit' }],
  end: () => [{ kind: 'commit' }],
  rollback: (cursor) => (cursor.has('to') ? [] : [{ kind: 'commit' }]),
  abort: () => [{ kind: 'commit' }],
};

function createIndex(cursor: SqlCursor, resolve: Resolve): Action[] {
  const concurrently = cursor.words('concurrently');
  cursor.words('if', 'not', 'exists');
  const name = cursor.words('on') ? null : cursor.column();
  if (name !== null) cursor.words('on');
  cursor.words('only');
  const table = resolve(cursor.name());
  const index = tableName(splitName(table).schema, name ?? '');
  return [{ kind: 'create index', table, index, concurrently }];
}

function dropIndex(cursor: SqlCursor, resolve: Resolve): Action[] {
  const concurrently = cursor.words('concurrently');
  cursor.words('if', 'exists');
  return names(cursor, resolve).map((index) => ({ kind: 'drop index', table: null, index, concurrently }));
}

function reindex(cursor: SqlCursor, resolve: Resolve): Action[] {
  const options = cursor.group();
  const what = cursor.oneOf('index', 'table', 'schema', 'database', 'system');
  if (!what) return [];
  const concurrently = cursor.words('concurrently') || (options?.has('concurrently') ?? false);
  const isRelation = what === 'index' || what === 'table';
  return [{ kind: 'reindex', what, name: isRelation ? resolve(cursor.name()) : cursor.column(), concurrently }];
}

function createTable(cursor: SqlCursor, resolve: Resolve): Action[] {
  cursor.words('if', 'not', 'exists');
  const table = resolve(cursor.name());
  const items = cursor.group()?.items() ?? [];
  const columns = [];
  const constraints = [];
  for (const item of items) {
    const constraint = takeConstraint(item, resolve);
    if (constraint) constraints.push(constraint);
    else if (!item.words('like')) columns.push(takeColumn(item, resolve));
  }
  return [{ kind: 'create table', table, columns, constraints }];
}

function createTrigger(cursor: SqlCursor, resolve: Resolve): Action[] {
  return cursor.past('on') ? [{ kind: 'create trigger', table: resolve(cursor.name()) }] : [];
}

function dropTrigger(cursor: SqlCursor, resolve: Resolve): Action[] {
  return cursor.past('on') ? [{ kind: 'drop trigger', table: resolve(cursor.name()) }] : [];
}

function onTable(cursor: SqlCursor, resolve: Resolve): Action[] {
  return cursor.past('on') ? [{ kind: 'other', table: resolve(cursor.name()) }] : [];
}

function comment(cursor: SqlCursor, resolve: Resolve): Action[] {
  return cursor.words('table') ? [{ kind: 'weak', table: resolve(cursor.name()) }] : [];
}

function drop(cursor: SqlCursor, resolve: Resolve, object: 'table' | 'materialized view' | 'view'): Action[] {
  cursor.words('if', 'exists');
  return [{ kind: 'drop', object, names: names(cursor, resolve), cascade: cursor.words('cascade') }];
}

function dropSchemas(cursor: SqlCursor): Action[] {
  cursor.words('if', 'exists');
  return [
    {
      kind: 'drop',
      object: 'schema',
      names: names(cursor, (name) => name?.name ?? ''),
      cascade: cursor.words('cascade'),
    },
  ];
}

function truncate(cursor: SqlCursor, resolve: Resolve): Action[] {
  cursor.words('table');
  cursor.words('only');
  return [{ kind: 'truncate', tables: names(cursor, resolve), cascade: cursor.has('cascade') }];
}

function refresh(cursor: SqlCursor, resolve: Resolve): Action[] {
  const concurrently = cursor.words('concurrently');
  return [{ kind: 'refresh', table: resolve(cursor.name()), concurrently }];
}

/** `CLUSTER table USING index`, and the older `CLUSTER index ON table`. */
function clustered(cursor: SqlCursor, resolve: Resolve): RelationName[] {
  cursor.group();
  cursor.words('verbose');
  const name = cursor.name();
  if (cursor.words('on')) return [resolve(cursor.name())];
  return name ? [resolve(name)] : [];
}

function vacuum(cursor: SqlCursor, resolve: Resolve): Action[] {
  const options = cursor.group();
  const isFull = options ? options.has('full') : cursor.words('full');
  cursor.words('freeze');
  cursor.words('verbose');
  cursor.words('analyze');
  return isFull ? [{ kind: 'vacuum full', tables: names(cursor, resolve) }] : [];
}

function update(cursor: SqlCursor, resolve: Resolve): Action[] {
  cursor.words('only');
  return [{ kind: 'update', table: resolve(cursor.name()), hasCondition: hasCondition(cursor) }];
}

function deleteRows(cursor: SqlCursor, resolve: Resolve): Action[] {
  cursor.words('only');
  return [{ kind: 'delete', table: resolve(cursor.name()), hasCondition: hasCondition(cursor) }];
}

/** Reports whether a condition follows that is more than `true` or `1 = 1`. */
function hasCondition(cursor: SqlCursor): boolean {
  cursor.until('where');
  if (!cursor.words('where')) return false;
  return !/^\(*(true|1=1)\)*(returning|$)/.test(cursor.text());
}

const MODES: readonly Lowercase<PostgresLockMode>[] = [
  ...(['row exclusive', 'share update exclusive', 'share row exclusive', 'share'] as const),
  ...(['access exclusive', 'exclusive'] as const),
];

function lock(cursor: SqlCursor, resolve: Resolve): Action[] {
  cursor.words('table');
  cursor.words('only');
  const tables = names(cursor, resolve);
  if (!cursor.words('in')) return [{ kind: 'lock', tables, mode: 'ACCESS EXCLUSIVE' }];
  const mode = cursor.oneOf(...MODES);
  return mode ? [{ kind: 'lock', tables, mode: mode.toUpperCase() as PostgresLockMode }] : [];
}

function alterType(cursor: SqlCursor): Action[] {
  const type = cursor.column();
  if (cursor.words('add', 'value')) {
    cursor.words('if', 'not', 'exists');
    return [{ kind: 'add enum value', type, value: cursor.next()?.value ?? '' }];
  }
  return cursor.words('rename', 'value')
    ? [{ kind: 'rename enum value', type, value: cursor.next()?.value ?? '' }]
    : [];
}

function setting(cursor: SqlCursor): Action[] {
  const isLocal = cursor.words('local');
  cursor.words('session');
  const name = cursor.name();
  const key = name?.schema ? `${name.schema}.${name.name}` : (name?.name ?? '');
  if (!cursor.symbol('=')) cursor.words('to');
  return [{ kind: 'set', name: key, value: cursor.text(), isLocal }];
}

function setConfig(cursor: SqlCursor): Action[] {
  const [name, value, local] = cursor.group()?.items() ?? [];
  if (!name || !value) return [];
  return [{ kind: 'set', name: name.next()?.value ?? '', value: value.text(), isLocal: local?.words('true') ?? false }];
}

function names(cursor: SqlCursor, resolve: Resolve): RelationName[] {
  const found = [];
  do {
    cursor.words('only');
    const name = cursor.name();
    if (name) found.push(resolve(name));
    cursor.symbol('*');
  } while (cursor.symbol(','));
  return found;
}
