import { isReserved } from '../names.ts';
import { kindsOf } from '../table-kind.ts';
import { checkProgram } from './check-program.ts';
import { checkColumn, checkForeignKey, checkIndex, checkSequence, checkTable } from './check-table.ts';
import { type Definition, definitionOf, type Own, refused } from './checked-definition.ts';
import type { CodeDefinitions, Definitions } from './definitions.ts';

/**
 * Rejects definitions that are not the CREATE statements of their objects: snapshots and other servers are untrusted.
 * A table may contain no query, no other database, nothing outside the data folder and no remote storage engine,
 * unless it is in `remote`. Bodies of views and stored programs are code; only their heads are checked.
 */
export function checkDefinitions(
  definitions: Definitions,
  database: string | null = null,
  remote: ReadonlySet<string> = new Set(),
): void {
  const { tables, sequences } = definitions;
  const kinds = kindsOf(tables);
  const own: Own = { database, sequences: new Set(sequences.map(({ name }) => name)) };
  for (const { name, create, indexes, foreignKeys } of tables) {
    const table: Definition = { ...definitionOf(`table ${name}`, create), own };
    refuseReserved(table, name);
    const kind = kinds.get(name) ?? 'own';
    checkTable(table, name, kind === 'remote' && !remote.has(name) ? 'own' : kind);
    for (const clause of indexes.flat()) checkIndex(definitionOf(`index of table ${name}`, clause));
    for (const clause of foreignKeys) checkForeignKey(definitionOf(`foreign key of table ${name}`, clause));
  }
  for (const { name, create } of sequences) {
    const sequence = definitionOf(`sequence ${name}`, create);
    refuseReserved(sequence, name);
    checkSequence(sequence, name);
  }
  for (const { name } of definitions.views) refuseReserved(definitionOf(`view ${name}`, ''), name);
  checkCode(definitions);
}

export function checkCode(
  {
    routines,
    views,
    triggers,
    events,
    dangling = [],
    defaults = [],
  }: Pick<CodeDefinitions, 'routines' | 'views' | 'triggers' | 'events' | 'dangling' | 'defaults'>,
  database: string | null = null,
): void {
  for (const { table, column } of defaults) checkColumn(definitionOf(`column of table ${table}`, column));
  for (const { table, clause } of dangling) checkForeignKey(definitionOf(`foreign key of table ${table}`, clause));
  for (const code of [...routines, ...views, ...triggers, ...events]) checkProgram(code, database);
}

function refuseReserved(definition: Definition, name: string): void {
  if (isReserved(name)) throw refused(definition, 'the name is reserved for tables of the tool');
}
