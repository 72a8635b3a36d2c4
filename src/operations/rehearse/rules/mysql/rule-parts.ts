import type { Rule } from '../rule.ts';

type Addresses = Pick<Rule, 'url' | 'mariadbUrl'>;

/** The page of MySQL's manual, and that of MariaDB's. */
export function pages(mysql: string, mariadb: string): Addresses {
  return { url: `https://dev.mysql.com/doc/refman/en/${mysql}`, mariadbUrl: `https://mariadb.com/kb/en/${mariadb}/` };
}

type OnlineDdlPart = 'index' | 'primary-key' | 'column' | 'generated-column' | 'foreign-key' | 'table' | 'partitioning';

/** Pages on the ways to change a table: https://dev.mysql.com/doc/refman/en/innodb-online-ddl-operations.html */
export function onlineDdl(part: OnlineDdlPart) {
  return pages(
    `innodb-online-ddl-operations.html#online-ddl-${part}-operations`,
    'innodb-online-ddl-operations-with-the-inplace-alter-algorithm',
  );
}

/** Effects that rules share. */
export const COPIED = 'Writes to the table wait until all of its rows are copied; at the end reads wait, too.';
/** The same on servers that copy online. */
export const COPIED_ONLINE = 'The rows are copied, which takes disk space and time; only at the end others wait.';
export const REBUILT = 'The table is written anew, which takes disk space and input and output of the server.';
/** The safer form of a statement that copies a table. */
export const BY_TOOL = 'Copy in the background: gh-ost or pt-online-schema-change.';

/** The facts of a rule for statements that copy all rows of the table. */
export function copiesTable(part: OnlineDdlPart) {
  return { text: COPIED, ...onlineDdl(part), lock: 'SHARED NO WRITE', rewrites: true } as const;
}
