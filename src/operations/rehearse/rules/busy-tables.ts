import { splitName } from '../../../text/table-names.ts';
import type { Action, ActionOf, RelationName } from './action.ts';
import type { Rule } from './rule.ts';
import { type KnownTables, MANY_ROWS, type Situation } from './situation.ts';

/** The tables that are from before the migration and have rows. */
export function ifBusy(tables: KnownTables, ...names: (RelationName | null)[]): RelationName[] {
  return names.filter((name) => name !== null && tables.busy(name) !== null) as RelationName[];
}

/** Finds the tables of each action of these kinds, where it is dangerous. */
export function onTable<Kind extends Action['kind']>(
  kinds: Kind | readonly Kind[],
  isDangerous: (action: ActionOf<Kind>, situation: Situation) => boolean = () => true,
): Rule['find'] {
  return (action, situation) =>
    isOf(action, kinds) && isDangerous(action, situation) ? ifBusy(situation.tables, ...tablesOf(action)) : [];
}

function isOf<Kind extends Action['kind']>(action: Action, kinds: Kind | readonly Kind[]): action is ActionOf<Kind> {
  return [kinds].flat().some((kind) => kind === action.kind);
}

/** The tables that an action names; a drop has names of several kinds. */
export function tablesOf(action: Action): readonly (RelationName | null)[] {
  if ('table' in action) return [action.table];
  return 'tables' in action ? action.tables : [];
}

/** Finds an update or delete without a condition on a table of many rows. */
export const changedAllRows = onTable(
  ['update', 'delete'],
  ({ hasCondition, table }, { tables }) => !hasCondition && (tables.busy(table)?.facts.rows ?? 0) >= MANY_ROWS,
);

export function droppedTables({ object, names }: ActionOf<'drop'>, tables: KnownTables): RelationName[] {
  if (object !== 'schema') return names;
  const all = tables.allBusy().map(([table]) => table);
  return all.filter((table) => names.includes(splitName(table).schema));
}
