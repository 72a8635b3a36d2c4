import { splitName } from '../../../../text/table-names.ts';
import type { Action, ActionOf, LockMode, RelationName } from '../action.ts';
import { droppedTables } from '../busy-tables.ts';
import type { TableLock } from '../dialect.ts';
import type { KnownTables } from '../situation.ts';

export const STRENGTH: LockMode[] = [
  ...(['ROW EXCLUSIVE', 'SHARE UPDATE EXCLUSIVE', 'SHARE', 'SHARE ROW EXCLUSIVE'] as const),
  ...(['EXCLUSIVE', 'ACCESS EXCLUSIVE'] as const),
];

export function isAtLeast(mode: LockMode, other: LockMode): boolean {
  return STRENGTH.indexOf(mode) >= STRENGTH.indexOf(other);
}

/** Returns who waits for a lock of the mode: readers mean writers as well. */
export function blockedBy(mode: string): 'readers' | 'writers' | 'none' {
  if (mode === 'ACCESS EXCLUSIVE') return 'readers';
  return mode === 'SHARE UPDATE EXCLUSIVE' ? 'none' : 'writers';
}

/**
 * Returns the locks on tables that an action takes.
 * https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-TABLES
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a case a kind, of which the compiler names a missing one
export function locksOf(action: Action, tables: KnownTables): TableLock[] {
  switch (action.kind) {
    case 'create index':
      return [{ table: action.table, mode: indexLockMode(action) }];
    case 'drop index':
      return ofIndex(action.index, tables, action.concurrently ? 'SHARE UPDATE EXCLUSIVE' : 'ACCESS EXCLUSIVE');
    case 'reindex':
      return reindexedTables(action, tables).map((table) => ({ table, mode: indexLockMode(action) }));
    case 'create table':
      return [...action.columns, ...action.constraints].flatMap(({ references }) => referenced(references));
    case 'add column':
      return [exclusive(action.table), ...referenced(action.column.references)];
    case 'add constraint':
      if (action.constraint.kind !== 'foreign') return [exclusive(action.table)];
      return [{ table: action.table, mode: 'SHARE ROW EXCLUSIVE' }, ...referenced(action.constraint.references)];
    case 'create trigger':
    case 'switch trigger':
      return referenced(action.table);
    case 'validate constraint':
    case 'weak':
      return [{ table: action.table, mode: 'SHARE UPDATE EXCLUSIVE' }];
    case 'attach partition':
      return [{ table: action.table, mode: 'SHARE UPDATE EXCLUSIVE' }, exclusive(action.partition)];
    case 'detach partition':
      if (action.concurrently) return [{ table: action.table, mode: 'SHARE UPDATE EXCLUSIVE' }];
      return [exclusive(action.table), exclusive(action.partition)];
    case 'refresh':
      return [{ table: action.table, mode: action.concurrently ? 'EXCLUSIVE' : 'ACCESS EXCLUSIVE' }];
    case 'lock':
      return action.tables.map((table) => ({ table, mode: action.mode }));
    case 'update':
    case 'delete':
    case 'insert':
      return [{ table: action.table, mode: 'ROW EXCLUSIVE' }];
    case 'drop':
      return droppedTables(action, tables).map(exclusive);
    case 'truncate':
    case 'cluster':
    case 'vacuum full':
      return action.tables.map(exclusive);
    case 'drop column':
    case 'alter type':
    case 'set not null':
    case 'drop constraint':
    case 'rename table':
    case 'rename column':
    case 'set tablespace':
    case 'set logged':
    case 'drop trigger':
    case 'other':
      return [exclusive(action.table)];
    case 'add enum value':
    case 'rename enum value':
    case 'set':
    case 'begin':
    case 'commit':
    case 'add index':
    case 'alter column':
    case 'rebuild':
    case 'convert':
    case 'drop primary key':
    case 'partition':
    case 'demand':
    case 'optimize':
    case 'flush':
    case 'unlock':
    case 'reach':
      return [];
    default:
      return action satisfies never;
  }
}

function indexLockMode({ concurrently }: { concurrently: boolean }): LockMode {
  return concurrently ? 'SHARE UPDATE EXCLUSIVE' : 'SHARE';
}

function exclusive(table: RelationName): TableLock {
  return { table, mode: 'ACCESS EXCLUSIVE' };
}

function referenced(table: RelationName | null): TableLock[] {
  return table === null ? [] : [{ table, mode: 'SHARE ROW EXCLUSIVE' }];
}

function ofIndex(index: RelationName, tables: KnownTables, mode: LockMode): TableLock[] {
  const table = tables.tableOfIndex(index);
  return table === null ? [] : [{ table, mode }];
}

export function reindexedTables({ what, name }: ActionOf<'reindex'>, tables: KnownTables): RelationName[] {
  if (what === 'index') return ofIndex(name, tables, 'SHARE').map(({ table }) => table);
  if (what === 'table') return [name];
  const all = tables.allBusy().map(([table]) => table);
  return what === 'schema' ? all.filter((table) => splitName(table).schema === name) : all;
}
