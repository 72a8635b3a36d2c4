import * as v from 'valibot';
import type { WarningEvent } from '../../../results/events.ts';
import { UserError } from '../../../runtime/errors.ts';
import { firstLines } from '../../shared/verify.ts';
import { keysWithOwnRows } from '../catalog/tables.ts';
import { inDatabase, quoteName, quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { unless } from '../connection/session-errors.ts';
import { readAuxiliaryNames } from '../server/server.ts';

/** A foreign key of a table in another database that references a table of the destination. */
export const foreignReferenceSchema = v.object({
  database: v.string(),
  table: v.string(),
  constraint: v.string(),
  referenced: v.string(),
});
export type ForeignReference = v.InferOutput<typeof foreignReferenceSchema>;

/** InnoDB's own list is a matter of milliseconds where the catalog opens every table of the server; it needs PROCESS. */
const QUICK = `SELECT 1 FROM information_schema.INNODB_SYS_FOREIGN
  WHERE SUBSTRING_INDEX(FOR_NAME, '/', 1) <> SUBSTRING_INDEX(REF_NAME, '/', 1) LIMIT 1`;

/** `ER_UNKNOWN_TABLE`, `ER_SPECIFIC_ACCESS_DENIED_ERROR`: MySQL has no such list and needs none. */
const NO_QUICK_LIST = [1109, 1227];

/**
 * Returns the foreign keys of other databases that the user may see; such a key follows its table, and so would
 * reference the undo copy after a swap.
 */
export async function foreignReferences(server: MysqlSession, destination: string): Promise<ForeignReference[]> {
  const some = await server.query(QUICK).catch(unless(NO_QUICK_LIST, null));
  if (some?.length === 0) return [];
  const rows = await server.query<ForeignReference>(`
    SELECT CONSTRAINT_SCHEMA AS \`database\`, TABLE_NAME AS \`table\`, CONSTRAINT_NAME AS \`constraint\`, REFERENCED_TABLE_NAME AS referenced
    FROM information_schema.REFERENTIAL_CONSTRAINTS
    WHERE ${await keysWithOwnRows(server, `${inDatabase('UNIQUE_CONSTRAINT_SCHEMA', destination)} AND NOT ${inDatabase('CONSTRAINT_SCHEMA', destination)}`)}
    ORDER BY 1, 2, 3`);
  const { prefix, undo, base, spare } = await readAuxiliaryNames(server, destination);
  const own = new Set([undo, base, spare]);
  return rows.filter(({ database }) => !own.has(database) && !database.startsWith(prefix));
}

export function dropStatement({ database, table, constraint }: ForeignReference): string {
  return `ALTER TABLE ${quotePath(database, table)} DROP FOREIGN KEY ${quoteName(constraint)}`;
}

function textOf({ database, table, constraint, referenced }: ForeignReference): string {
  return `${database}.${table}: foreign key ${constraint} references ${referenced}`;
}

/** Rejects with the list, unless the caller wants these foreign keys dropped: then they are a warning each. */
export function assertNoForeignReferences(
  references: ForeignReference[],
  { destination, drop }: { destination: string; drop: boolean },
): WarningEvent[] {
  if (drop) {
    return references.map((reference) => {
      const message = `${textOf(reference)} of ${destination}: it is dropped with the swap, and tool undo does not recreate it`;
      return { event: 'warning', code: 'foreign_reference', message };
    });
  }
  if (references.length === 0) return [];
  throw new UserError('foreign_reference', `Tables of other databases reference tables of "${destination}"`, {
    details: firstLines(references.map(textOf)),
    hint: `The destination is unchanged. Drop these foreign keys (${references.slice(0, 1).map(dropStatement).join('')}), or let a load of a snapshot do it with --drop-foreign-references.`,
  });
}
