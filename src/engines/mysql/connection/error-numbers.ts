// Numbers of the server that several files recognise. https://mariadb.com/kb/en/mariadb-error-code-reference/

/** A comment for versions that this server does not read is an empty statement. */
export const EMPTY_QUERY = 1065;

/** A missing right on a database, table, column, privilege or routine. */
export const DENIED = new Set([1044, 1142, 1143, 1227, 1370]);

/** A missing right of the server, as that to set a variable or the definer of code. */
export const RIGHT_MISSING = 1227;
