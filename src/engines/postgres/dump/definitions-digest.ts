import { createHash } from 'node:crypto';
import { type ContentsEntry, readContents } from './archive-contents.ts';

/**
 * SHA-256 of the definitions in a table of contents, equal for equal schema objects whatever their oids, their order,
 * and the values of sequences; `null` where the format is not the one that is understood.
 */
export function digestDefinitions(toc: Buffer): string | null {
  const entries = readContents(toc);
  if (!entries) return null;
  const lines = [...entries.values()]
    .filter(isDefinition)
    .map(({ kind, schema, tag, definition, accessMethod }) =>
      JSON.stringify([kind, schema, tag, definition, accessMethod]),
    )
    .sort();
  const hash = createHash('sha256');
  for (const line of lines) hash.update(line).update('\n');
  return hash.digest('hex');
}

/** Values of sequences and large objects are content. */
const CONTENT = /^(SEQUENCE SET|TABLE DATA|BLOBS?|BLOB METADATA)$/;

/** The database itself, with its name, which no load creates: a save has that of the destination. */
const DATABASE = /^DATABASE\b/;

/** pg_dump's whole text for a schema that every database has: whether it is there depends on the schema's owner. */
const OF_EVERY_DATABASE = '-- *not* creating schema';

/** Reports whether a load creates an object of the entry. */
export function isDefinition({ kind, tag, definition }: ContentsEntry): boolean {
  if (CONTENT.test(kind) || DATABASE.test(kind) || definition.startsWith(OF_EVERY_DATABASE)) return false;
  return !(/^(COMMENT|ACL|SECURITY LABEL)$/.test(kind) && DATABASE.test(tag));
}
