import { inDatabase, quoteText, tablesIn } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import type { Definitions, TableDefinition } from '../definitions/definitions.ts';
import { entriesOf } from '../definitions/table-entries.ts';
import { isWord, significant, type Token } from '../definitions/tokens.ts';
import { invalidViewsOf } from '../definitions/view-needs.ts';
import { type Inventory, settingsAmong, withoutViews } from '../introspect.ts';
import { type Scope, TABLE_RIGHTS } from './rights.ts';

/** The server lists code with hidden text, and hides constraints of read-only tables. */
export async function readStoredInventory(
  session: MysqlSession,
  { database, rights }: Scope,
  { present, definitions, read }: { present: Inventory; definitions: Definitions; read: Definitions },
): Promise<Inventory> {
  const inventory = withoutViews(present, invalidViewsOf(definitions));
  const stored = {
    view: new Set(definitions.views.map(({ name }) => name)),
    trigger: new Set(definitions.triggers.map(({ name }) => name)),
    routine: new Set(definitions.routines.map(({ kind, name }) => `${kind.toLowerCase()} ${name}`)),
  };
  const code = [...definitions.views, ...definitions.triggers, ...definitions.routines];
  const views = (inventory.view ?? []).filter((name) => !stored.view.has(name));
  const columns =
    views.length === 0
      ? []
      : await session.query<{ name: string }>(`
          SELECT CONCAT_WS('.', TABLE_NAME, COLUMN_NAME) AS name FROM information_schema.COLUMNS
          WHERE ${tablesIn(database)} AND TABLE_NAME IN (${views.map(quoteText).join(', ')})`);
  const triggers = await session.query<{ table_: string; name: string }>(`
    SELECT EVENT_OBJECT_TABLE AS table_, TRIGGER_NAME AS name FROM information_schema.TRIGGERS
    WHERE ${inDatabase('TRIGGER_SCHEMA', database)}`);
  const seesConstraints = TABLE_RIGHTS.some((right) => right !== 'SELECT' && rights.onDatabase(database, right));
  const derived = seesConstraints ? [] : definitions.tables.flatMap(constraintsOf);
  const kept = new Set(definitions.tables);
  const whole = new Set(read.tables);
  const cut = read.tables
    .filter((table) => !kept.has(table))
    .flatMap(constraintsOf)
    .filter(isNotIn(definitions.tables.filter((table) => !whole.has(table)).flatMap(constraintsOf)));
  return {
    ...inventory,
    view: (inventory.view ?? []).filter((name) => stored.view.has(name)),
    column: (inventory.column ?? []).filter(isNotIn(columns.map(({ name }) => name))),
    trigger: triggers
      .filter(({ name }) => stored.trigger.has(name))
      .map(({ table_, name }) => `${table_}.${name}`)
      .sort(),
    routine: (inventory.routine ?? []).filter((name) => stored.routine.has(name)),
    'character set': settingsAmong(inventory['character set'], code),
    constraint: [...new Set([...(inventory.constraint ?? []), ...derived])].filter(isNotIn(cut)).sort(),
  };
}

function isNotIn(names: string[]): (name: string) => boolean {
  const left = new Map([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
  return (name) => {
    const times = left.get(name) ?? 0;
    left.set(name, times - 1);
    return times <= 0;
  };
}

export function constraintsOf({ name, create, indexes, foreignKeys }: TableDefinition): string[] {
  return [...entriesOf(create).entries, ...indexes.flat(), ...foreignKeys]
    .flatMap((entry) => constraintOf(significant(entry)) ?? [])
    .map((constraint) => `${name}.${constraint}`);
}

function constraintOf(tokens: Token[]): string | null {
  const [first, second] = tokens;
  if (first?.kind === 'name') {
    // MariaDB names a column's check after the column.
    const isChecked = tokens.some((token, at) => isWord(token, 'CHECK') && tokens[at + 1]?.text === '(');
    return isChecked ? first.value : null;
  }
  if (first?.value === 'PRIMARY') return 'PRIMARY';
  if (first?.value === 'UNIQUE') return tokens.find(({ kind }) => kind === 'name')?.value ?? null;
  return first?.value === 'CONSTRAINT' ? (second?.value ?? null) : null;
}
