/**
 * Names of tables as the configuration and the command line write them: `schema.table`, with quotes around a part that
 * holds a dot (`a."b.c"`), so that no two tables have the same name.
 */
export function tableName(schema: string, table: string): string {
  return `${namePart(schema)}.${namePart(table)}`;
}

/** A schema or a table as a part of a name. */
function namePart(part: string): string {
  return part.includes('.') || part.startsWith('"') ? `"${part.replaceAll('"', '""')}"` : part;
}

const PARTS = /^(?:"((?:[^"]|"")*)"|([^.]*))\.([\s\S]*)$/;

/** The schema of an object's name, and what follows it as it is written. */
export function splitName(name: string): { schema: string; rest: string } {
  const [, quoted, plain, rest = ''] = PARTS.exec(name) ?? [];
  return { schema: quoted?.replaceAll('""', '"') ?? plain ?? '', rest };
}

/** The known names that a text may mean: the very name, or those that differ from it only in quotes. */
export function findNames(text: string, known: Iterable<string>): string[] {
  const all = [...known];
  if (all.includes(text)) return [text];
  return all.filter((name) => withoutQuotes(name) === text || withoutQuotes(name) === withoutQuotes(text));
}

function withoutQuotes(name: string): string {
  const { schema, rest } = splitName(name);
  const table = /^"(?:[^"]|"")*"$/.test(rest) ? rest.slice(1, -1).replaceAll('""', '"') : rest;
  return `${schema}.${table}`;
}
