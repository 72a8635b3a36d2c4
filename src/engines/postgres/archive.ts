import * as v from 'valibot';
import { EXIT, UserError } from '../../errors.ts';
import type { Manifest } from '../../snapshots/manifest.ts';
import { inventorySchema, localeSchema } from './catalogue.ts';

/** What ends every table's file in an archive of pg_dump's directory format: the end of COPY, and two empty lines. */
export const DATA_TERMINATOR = '\\.\n\n\n';
/** Line feeds in it, which are not rows. */
export const TERMINATOR_LINES = 3;
/** The bytes of it that COPY must not read. */
export const AFTER_END_OF_COPY = 2;

/** What a snapshot's manifest holds for this engine beyond what every engine records. */
const detailsSchema = v.object({
  /** Oids are those of the archive's table of contents. */
  schemas: v.array(v.object({ oid: v.number(), name: v.string() })),
  /** What COPY needs to know of each table, by the name of its file. */
  data: v.record(
    v.string(),
    v.object({
      schema: v.string(),
      table: v.string(),
      columns: v.array(v.string()),
      /** Whether an extension made the table, and may have put rows into it. */
      of_extension: v.boolean(),
    }),
  ),
  extensions: v.array(v.object({ name: v.string(), schema: v.string() })),
  /** Roles that policies name. */
  roles: v.array(v.string()),
  locale: localeSchema,
  /** `ALTER DATABASE … SET`, as `name=value`. */
  settings: v.array(v.string()),
  inventory: inventorySchema,
  /** Objects that cannot be restored without a schema that is not in the snapshot. */
  left_out: v.array(v.object({ oid: v.number(), kind: v.string(), name: v.string(), needs: v.string() })),
});

export type ArchiveDetails = v.InferOutput<typeof detailsSchema>;

export function archiveDetails(manifest: Manifest): ArchiveDetails {
  const { success, output } = v.safeParse(detailsSchema, manifest.details);
  if (success) return output;
  throw new UserError(`Snapshot ${manifest.id} of ${manifest.target} was written by another version of this program`, {
    code: 'manifest_not_understood',
    exit: EXIT.failed,
    hint: 'Update the program, or take a new snapshot: tool build',
  });
}

export interface ArchiveEntry {
  dumpId: number;
  /** Object identifier in the source's catalogue; 0 where there is none. */
  oid: number;
  /** The line as `pg_restore --list` wrote it, to be given back to `--use-list`. */
  line: string;
  /** What follows the identifiers: type, schema, name and owner, which may hold spaces. */
  text: string;
}

/** The lines of `pg_restore --list`. https://www.postgresql.org/docs/current/app-pgrestore.html */
export function parseArchiveList(listing: string): ArchiveEntry[] {
  return listing.split('\n').flatMap((line) => {
    const match = /^(\d+); \d+ (\d+) (.*)$/.exec(line);
    return match ? [{ dumpId: Number(match[1]), oid: Number(match[2]), line, text: match[3] ?? '' }] : [];
  });
}

export function isTableData(entry: ArchiveEntry): boolean {
  return entry.text.startsWith('TABLE DATA ');
}
