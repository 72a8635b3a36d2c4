import { isReserved } from '../../server/names.ts';
import { traitsOf } from '../table-traits.ts';
import { checkProgram } from './check-program.ts';
import { checkColumn, checkForeignKey, checkIndex, checkSequence, checkTable, inTablespaces } from './check-table.ts';
import { type Definition, definitionOf, type Own, refused } from './checked-definition.ts';
import type { CodeDefinitions, Definitions } from './definitions.ts';
import { renderCode, renderDangling, renderDefault, renderStatement, renderTable } from './render.ts';

/**
 * Renders the definitions that are executed (`render.ts`); rejects those that are not the CREATE statements of their
 * objects: snapshots and other servers are untrusted. A table may contain no query, no other database, nothing outside
 * the data folder and no remote storage engine, unless it is in `remote`. Bodies of views and stored programs are code;
 * only their heads are checked.
 */
export function checkDefinitions<Given extends Definitions>(
  given: Given,
  database: string | null = null,
  remote: ReadonlySet<string> = new Set(),
): Given {
  const sequences = given.sequences.map((sequence) => ({
    ...sequence,
    create: renderStatement(`sequence ${sequence.name}`, sequence.create),
  }));
  const definitions = { ...given, tables: given.tables.map(renderTable), sequences };
  const { tables } = definitions;
  const traits = traitsOf(tables);
  const own: Own = { database, sequences: new Set(sequences.map(({ name }) => name)) };
  const elsewhere = new Set<string>();
  for (const { name, create, indexes, foreignKeys } of tables) {
    const table: Definition = { ...definitionOf(`table ${name}`, create), own, elsewhere };
    assertNoReservedTable(table, name);
    const { storage = 'own' } = traits.get(name) ?? {};
    checkTable(table, name, storage === 'remote' && !remote.has(name) ? 'own' : storage);
    for (const clause of indexes.flat()) checkIndex(definitionOf(`index of table ${name}`, clause));
    for (const clause of foreignKeys) checkForeignKey(definitionOf(`foreign key of table ${name}`, clause));
  }
  if (elsewhere.size > 0) throw inTablespaces([...elsewhere]);
  for (const { name, create } of sequences) {
    const sequence = definitionOf(`sequence ${name}`, create);
    assertNoReservedTable(sequence, name);
    checkSequence(sequence, name);
  }
  for (const { name } of definitions.views) assertNoReservedTable(definitionOf(`view ${name}`, ''), name);
  return { ...definitions, ...checkCode(definitions) };
}

type CheckedCode = Pick<CodeDefinitions, 'routines' | 'views' | 'triggers' | 'events' | 'dangling' | 'defaults'>;

export function checkCode<Given extends CheckedCode>(given: Given, database: string | null = null): Given {
  const rendered: Given = {
    ...given,
    routines: given.routines.map(renderCode),
    views: given.views.map(renderCode),
    triggers: given.triggers.map(renderCode),
    events: given.events.map(renderCode),
    ...(given.dangling && { dangling: given.dangling.map(renderDangling) }),
    ...(given.defaults && { defaults: given.defaults.map(renderDefault) }),
  };
  const { routines, views, triggers, events, dangling = [], defaults = [] } = rendered;
  for (const { table, column } of defaults) checkColumn(definitionOf(`column of table ${table}`, column));
  for (const { table, clause } of dangling) checkForeignKey(definitionOf(`foreign key of table ${table}`, clause));
  for (const code of [...routines, ...views, ...triggers, ...events]) checkProgram(code, database);
  return rendered;
}

function assertNoReservedTable(definition: Definition, name: string): void {
  if (isReserved(name)) throw refused(definition, 'the name is reserved for tables of the tool');
}
