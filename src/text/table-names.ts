/**
 * Table names of configuration and command line: `schema.table`, with quotes around a part with a dot (`a."b.c"`), so
 * that names are unique.
 */
export function tableName(schema: string, table: string): string {
  return `${namePart(schema)}.${namePart(table)}`;
}

export function nameOf({ schema, name }: { schema: string; name: string }): string {
  return tableName(schema, name);
}

function namePart(part: string): string {
  return part.includes('.') || part.startsWith('"') ? `"${part.replaceAll('"', '""')}"` : part;
}

const PARTS = /^(?:"((?:[^"]|"")*)"|([^.]*))\.([\s\S]*)$/;

export function splitName(name: string): { schema: string; rest: string } {
  const [, quoted, plain, rest = ''] = PARTS.exec(name) ?? [];
  return { schema: quoted?.replaceAll('""', '"') ?? plain ?? '', rest };
}

/** The known names that a text may mean: the exact name, or names that differ in quotes only. */
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
