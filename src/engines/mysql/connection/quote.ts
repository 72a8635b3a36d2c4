export function quoteName(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

export function quotePath(database: string, name: string): string {
  return `${quoteName(database)}.${quoteName(name)}`;
}

/**
 * Names a table that is read, with a hint: hints are refused for a view, which somebody may put in its place, and whose
 * code runs with the rights of this user. This one changes no plan but of an ORDER BY.
 */
export function asTable(path: string, alias = '', hint = 'USE INDEX FOR ORDER BY ()'): string {
  return `${path} ${alias} ${hint}`;
}

export function quoteText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** An account, or with an empty host a role of MariaDB. */
export function quoteAccount(user: string, host: string): string {
  return host === '' ? quoteText(user) : `${quoteText(user)}@${quoteText(host)}`;
}

/** The name of a character set or collation, which SQL does not always quote. */
export function plainWord(word: string): string {
  if (!/^[A-Za-z0-9_]+$/.test(word)) throw new Error(`${JSON.stringify(word)} is not a name of the server's own`);
  return word;
}

export function plainWords(words: string): string {
  return words.split(' ').map(plainWord).join(' ');
}

/**
 * A condition that the column is this database, compared as by the server: the catalog's own collation ignores case
 * even where `app` and `App` differ. The first condition makes the lookup fast.
 */
export function inDatabase(column: string, database: string): string {
  const name = quoteText(database);
  return `(${column} = ${name} AND (@@lower_case_table_names > 0 OR CAST(${column} AS BINARY) = CAST(${name} AS BINARY)))`;
}

/** A table that marks a database as made by the tool; part of no snapshot. */
export const MARK = 'tool-mark';

/**
 * Returns the condition of `inDatabase` for catalog views with `TABLE_SCHEMA` and `TABLE_NAME`, without the tool's own
 * table.
 */
export function tablesIn(database: string): string {
  return `${inDatabase('TABLE_SCHEMA', database)} AND CAST(TABLE_NAME AS BINARY) <> CAST(${quoteText(MARK)} AS BINARY)`;
}
