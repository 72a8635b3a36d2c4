import { UserError } from '../../../runtime/errors.ts';
import { firstLines } from '../../shared/verify.ts';
import { keysWithOwnRows } from '../catalog/tables.ts';
import { inDatabase, quoteName, quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { unless } from '../connection/session-errors.ts';
import { readAuxiliaryNames } from '../server/server.ts';

/** InnoDB's own list is a matter of milliseconds where the catalog opens every table of the server; it needs PROCESS. */
const QUICK = `SELECT 1 FROM information_schema.INNODB_SYS_FOREIGN
  WHERE SUBSTRING_INDEX(FOR_NAME, '/', 1) <> SUBSTRING_INDEX(REF_NAME, '/', 1) LIMIT 1`;

/** `ER_UNKNOWN_TABLE`, `ER_SPECIFIC_ACCESS_DENIED_ERROR`: MySQL has no such list and needs none. */
const NO_QUICK_LIST = [1109, 1227];

/**
 * Refuses a destination that foreign keys of other databases reference, as far as the user may see them: such a key
 * follows its table, and so would reference the undo copy after a swap.
 */
export async function assertNoForeignReferences(server: MysqlSession, destination: string): Promise<void> {
  const some = await server.query(QUICK).catch(unless(NO_QUICK_LIST, null));
  if (some?.length === 0) return;
  const rows = await server.query<{ database: string; table: string; constraint: string; referenced: string }>(`
    SELECT CONSTRAINT_SCHEMA AS \`database\`, TABLE_NAME AS \`table\`, CONSTRAINT_NAME AS \`constraint\`, REFERENCED_TABLE_NAME AS referenced
    FROM information_schema.REFERENTIAL_CONSTRAINTS
    WHERE ${await keysWithOwnRows(server, `${inDatabase('UNIQUE_CONSTRAINT_SCHEMA', destination)} AND NOT ${inDatabase('CONSTRAINT_SCHEMA', destination)}`)}
    ORDER BY 1, 2, 3`);
  const { prefix, undo, base, spare } = await readAuxiliaryNames(server, destination);
  const own = new Set([undo, base, spare]);
  const references = rows.filter(({ database }) => !own.has(database) && !database.startsWith(prefix));
  const [first] = references;
  if (!first) return;
  const drop = `ALTER TABLE ${quotePath(first.database, first.table)} DROP FOREIGN KEY ${quoteName(first.constraint)}`;
  throw new UserError('foreign_reference', `Tables of other databases reference tables of "${destination}"`, {
    details: firstLines(
      references.map(
        ({ database, table, constraint, referenced }) =>
          `${database}.${table}: foreign key ${constraint} references ${referenced}`,
      ),
    ),
    hint: `The destination is unchanged. Drop these foreign keys first: ${drop}`,
  });
}
