import type { RehearsalFacts } from '../../../engines/facets/rehearsal-facts.ts';
import { splitName, tableName } from '../../../text/table-names.ts';
import type { Action, ColumnDefinition, RelationName } from './action.ts';
import type { KnownTable, KnownTables } from './situation.ts';
import type { SqlName } from './sql/cursor.ts';

/** The tables from before the migration, as the statements so far have left them. */
export interface TableState extends KnownTables {
  resolve(name: SqlName | null): RelationName;
  apply(action: Action): void;
  originalName(table: RelationName): RelationName;
}

export function tableState(facts: RehearsalFacts): TableState {
  const known = new Map<RelationName, KnownTable>();
  const indexes = new Map<RelationName, RelationName>();
  for (const [name, table] of facts.tables) {
    known.set(name, {
      ...{ name, facts: table },
      columns: new Map(table.columns.map((column) => [column.name, column])),
      constraints: new Map(
        table.constraints.map(({ name: key, kind, definition, isValidated }) => [
          key,
          { definition, isValidated, isCheck: kind === 'check' },
        ]),
      ),
    });
    for (const index of table.indexes) indexes.set(tableName(splitName(name).schema, index), name);
  }
  const dropped = new Set<RelationName>();
  let searchPath = facts.searchPath;
  const busy = (table: RelationName): KnownTable | null => {
    const found = known.get(table);
    return found && found.facts.rows > 0 ? found : null;
  };
  return {
    busy,
    allBusy: () => [...known].filter(([table]) => busy(table) !== null),
    isDroppedView: (view) => dropped.has(view),
    // Cascades of foreign keys write beside the copy: such tables are locked.
    isCopiedOnline: (table) =>
      facts.copiesOnline === true &&
      !(known.get(table)?.facts.constraints ?? []).some(({ kind }) => kind === 'foreign'),
    tableOfIndex: (index) => indexes.get(index) ?? null,
    originalName: (table) => known.get(table)?.name ?? table,
    resolve(name) {
      if (name === null) return '';
      if (name.schema !== null) return tableName(name.schema, name.name);
      const places = searchPath.map((schema) => tableName(schema, name.name));
      return places.find((place) => known.has(place) || indexes.has(place)) ?? places[0] ?? name.name;
    },
    apply(action) {
      if (action.kind === 'set' && action.name === 'search_path') searchPath = pathOf(action.value);
      if (action.kind === 'create index') indexes.set(action.index, action.table);
      if (action.kind === 'drop') {
        for (const name of action.names) {
          known.delete(name);
          dropped.add(name);
        }
      }
      if (action.kind === 'rename table') rename(known, action);
      if ('table' in action && action.table !== null) change(known.get(action.table), action);
    },
  };
}

function pathOf(value: string): string[] {
  return value.split(',').map((part) => part.trim().replaceAll(/^["']|["']$/g, ''));
}

function rename(known: Map<RelationName, KnownTable>, { table, to }: { table: RelationName; to: RelationName }): void {
  const found = known.get(table);
  if (!found) return;
  known.delete(table);
  known.set(to, found);
}

function change(table: KnownTable | undefined, action: Action): void {
  if (!table) return;
  switch (action.kind) {
    case 'add column':
      table.columns.set(action.column.name, columnFacts(action.column));
      break;
    case 'drop column':
      table.columns.delete(action.column);
      break;
    case 'rename column': {
      const column = table.columns.get(action.column);
      table.columns.delete(action.column);
      if (column) table.columns.set(action.to, { ...column, name: action.to });
      break;
    }
    case 'alter type': {
      const column = table.columns.get(action.column);
      if (column) table.columns.set(action.column, { ...column, type: action.type });
      break;
    }
    case 'alter column': {
      const { column, definition } = action;
      table.columns.delete(column);
      table.columns.set(definition.name, columnFacts(definition));
      break;
    }
    case 'add constraint': {
      const { name, kind, expression, isNotValid } = action.constraint;
      const key = name ?? `constraint ${table.constraints.size}`;
      table.constraints.set(key, { definition: expression, isCheck: kind === 'check', isValidated: !isNotValid });
      break;
    }
    case 'validate constraint': {
      const constraint = table.constraints.get(action.name);
      if (constraint) table.constraints.set(action.name, { ...constraint, isValidated: true });
      break;
    }
    case 'drop constraint':
      table.constraints.delete(action.name);
      break;
    default:
      break;
  }
}

function columnFacts({ name, type, isNotNull, isPrimary }: ColumnDefinition) {
  return { name, type, isNullable: !isNotNull && !isPrimary, views: [] };
}
