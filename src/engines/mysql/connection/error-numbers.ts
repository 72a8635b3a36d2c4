// Numbers of the server that several files recognise. https://mariadb.com/kb/en/mariadb-error-code-reference/

/** A comment for versions that this server does not read is an empty statement. */
export const EMPTY_QUERY = 1065;

/** A missing right on a database, table, column, privilege or routine. */
export const DENIED = new Set([1044, 1142, 1143, 1227, 1370]);

/**
 * Errors for which a definition cannot be read until it changes: a missing right, a missing object in a view
 * (`ER_BAD_FIELD_ERROR`, `ER_NO_SUCH_TABLE`, `ER_SP_DOES_NOT_EXIST`, `ER_VIEW_INVALID`), a missing definer.
 */
export const UNREADABLE = new Set([...DENIED, 1054, 1146, 1305, 1356, 1449]);

/** A missing right of the server, as that to set a variable or the definer of code. */
export const RIGHT_MISSING = 1227;

/** An index that a hint names is missing: with `asTable`, a view is in place of the table. */
export const NO_SUCH_KEY = 1176;

/** A lock that was not given in time. */
export const LOCK_WAIT_TIMEOUT = 1205;

/** The same, and a deadlock: tried again, the statement may succeed. */
export const LOCKED = new Set([LOCK_WAIT_TIMEOUT, 1213]);
