import type { Action, MysqlLockMode, RelationName } from '../action.ts';
import { droppedTables } from '../busy-tables.ts';
import type { LockSituation, TableLock } from '../dialect.ts';
import type { KnownTables } from '../situation.ts';
import type { StatementFacts } from '../statement.ts';

export const MODES: MysqlLockMode[] = [
  ...(['SHARED WRITE', 'SHARED UPGRADABLE', 'SHARED READ ONLY', 'SHARED NO WRITE'] as const),
  ...(['SHARED NO READ WRITE', 'EXCLUSIVE'] as const),
];

export function blockedBy(mode: string): 'readers' | 'writers' | 'none' {
  if (mode === 'SHARED NO READ WRITE' || mode === 'EXCLUSIVE') return 'readers';
  return mode === 'SHARED READ ONLY' || mode === 'SHARED NO WRITE' ? 'writers' : 'none';
}

const BLOCKING_INDEXES = new Set(['fulltext', 'spatial']);

/** Reports whether the server copied the rows of an ALTER TABLE: else it reports none. */
export function isCopied({ affected }: Pick<StatementFacts, 'affected'>): boolean {
  return affected > 0;
}

/**
 * Returns the locks that an action holds for most of its time; a definition is EXCLUSIVE at its beginning and its end.
 * https://dev.mysql.com/doc/refman/en/innodb-online-ddl-performance.html
 */
export function locksOf(action: Action, situation: LockSituation): TableLock[] {
  const { tables } = situation;
  switch (action.kind) {
    case 'add index':
      return alters(action, situation, BLOCKING_INDEXES.has(action.type) ? 'SHARED NO WRITE' : 'SHARED UPGRADABLE');
    case 'rebuild':
      return alters(action, situation, 'SHARED UPGRADABLE');
    case 'partition':
      return alters(action, situation, action.change === 'some' ? 'SHARED NO WRITE' : 'EXCLUSIVE');
    case 'add constraint':
      return alters(action, situation, action.constraint.kind === 'primary' ? 'SHARED UPGRADABLE' : 'EXCLUSIVE');
    case 'add column':
      return alters(action, situation, action.column.isIdentity ? 'SHARED NO WRITE' : 'EXCLUSIVE');
    case 'alter column':
    case 'convert':
    case 'drop column':
    case 'drop constraint':
    case 'drop primary key':
    case 'rename column':
    case 'rename table':
    case 'weak':
      return alters(action, situation, 'EXCLUSIVE');
    case 'drop index':
    case 'create trigger':
      return action.table === null ? [] : [{ table: action.table, mode: 'EXCLUSIVE' }];
    case 'drop trigger':
      return of(tableOfTrigger(action.table, tables), 'EXCLUSIVE');
    case 'optimize':
      return of(action.tables, 'SHARED UPGRADABLE');
    case 'flush':
      return of(flushedTables(action.tables, tables), 'SHARED NO WRITE');
    case 'lock':
      return action.tables.map((table) => ({ table, mode: action.mode }));
    case 'drop':
      return of(droppedTables(action, tables), 'EXCLUSIVE');
    case 'truncate':
      return of(action.tables, 'EXCLUSIVE');
    case 'update':
    case 'delete':
    case 'insert':
      return of([action.table], 'SHARED WRITE');
    default:
      return [];
  }
}

/** `LOCK=` may ask for more. */
const DEMANDED: Record<string, MysqlLockMode> = { shared: 'SHARED NO WRITE', exclusive: 'SHARED NO READ WRITE' };

function alters(
  { table }: { table: RelationName },
  { tables, statement }: LockSituation,
  inPlace: MysqlLockMode,
): TableLock[] {
  const demanded = statement.actions.flatMap((action) =>
    action.kind === 'demand' && action.what === 'lock' ? (DEMANDED[action.value] ?? []) : [],
  );
  // What blocks writers in place does so in a copy, such as numbers for all rows.
  const isOnline = inPlace !== 'SHARED NO WRITE' && tables.isCopiedOnline(table);
  const ofCopy: MysqlLockMode = isOnline ? 'SHARED UPGRADABLE' : 'SHARED NO WRITE';
  const modes = [...demanded, isCopied(statement) ? ofCopy : inPlace] as const;
  const mode = MODES.findLast((each) => modes.includes(each)) ?? inPlace;
  return [{ table, mode }];
}

function of(tables: readonly RelationName[], mode: MysqlLockMode): TableLock[] {
  return tables.map((table) => ({ table, mode }));
}

/** The name of a trigger without its database, as of `schema.trigger`. */
export function tableOfTrigger(trigger: RelationName, tables: KnownTables): RelationName[] {
  const name = trigger.slice(trigger.indexOf('.') + 1);
  return tables.allBusy().flatMap(([table, { facts }]) => (facts.triggers?.includes(name) ? [table] : []));
}

export function flushedTables(names: readonly RelationName[], tables: KnownTables): readonly RelationName[] {
  return names.length > 0 ? names : tables.allBusy().map(([table]) => table);
}

const NO_DEFINITIONS = new Set<Action['kind']>(['update', 'delete', 'insert', 'set', 'begin', 'commit', 'unlock']);

/** Definitions commit, and so does LOCK TABLES. https://dev.mysql.com/doc/refman/en/implicit-commit.html */
export function commits({ kind }: Action): boolean {
  return !NO_DEFINITIONS.has(kind);
}
