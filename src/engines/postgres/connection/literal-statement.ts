/** Statements that psql cannot take for anything else, and that must not follow another one in a transaction. */
const PLAIN = /^(?:BEGIN|START TRANSACTION|SET TRANSACTION)[A-Za-z, ]*$/i;

/**
 * A line for psql that has it send a foreign statement to the server unread: psql would run commands (`\!`) in it, and
 * replace `:name`. As text of base64 it means the same under every setting of strings and encodings.
 */
export function literalStatement(statement: Buffer): string {
  const text = statement.length < MOST_PLAIN ? statement.toString('latin1') : '';
  if (PLAIN.test(text)) return `${text};\n`;
  return `SELECT ${textOfLiteral(statement)} \\gexec\n`;
}

/** An expression for a text in the encoding of the client. */
export function textOfLiteral(text: Buffer): string {
  return `pg_catalog.convert_from(pg_catalog.decode('${text.toString('base64')}', 'base64'), pg_catalog.pg_client_encoding())`;
}

const MOST_PLAIN = 200;
