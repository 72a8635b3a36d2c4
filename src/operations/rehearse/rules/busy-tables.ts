import { splitName } from '../../../text/table-names.ts';
import type { Action, RelationName } from './action.ts';
import type { Rule } from './rule.ts';
import type { KnownTables } from './situation.ts';

/** The tables that are from before the migration and have rows. */
export function ifBusy(tables: KnownTables, ...names: (RelationName | null)[]): RelationName[] {
  return names.filter((name) => name !== null && tables.busy(name) !== null) as RelationName[];
}

/** Finds the table of each action of a kind. */
export function onTable(kind: Action['kind']): Rule['find'] {
  return (action, { tables }) => (action.kind === kind && 'table' in action ? ifBusy(tables, action.table) : []);
}

export function droppedTables(
  { object, names }: Extract<Action, { kind: 'drop' }>,
  tables: KnownTables,
): RelationName[] {
  if (object !== 'schema') return names;
  const all = tables.allBusy().map(([table]) => table);
  return all.filter((table) => names.includes(splitName(table).schema));
}
