import * as v from 'valibot';
import { count, fileName, list } from '../../repository/values.ts';
import { definitionsOnlySchema } from '../../results/definitions-only.ts';
import { hiddenSchema } from '../../results/hidden-objects.ts';

/** What a manifest holds for MySQL and MariaDB beyond what every engine records; `text` is what a name in it may be. */
export function mysqlDetails(text: v.GenericSchema<string>) {
  return v.object({
    flavour: v.picklist(['mysql', 'mariadb']),
    /** The vendor's program that wrote rows and definitions, where it was not the driver. */
    program: v.exactOptional(v.object({ name: text, version: text })),
    database: text,
    /** Collations that something in it is sorted by. */
    collations: list(text),
    /** What in it only this flavour has. */
    features: list(text),
    /** Compared after a restore: kind → names. */
    inventory: v.record(v.pipe(v.string(), v.regex(/^[a-z_ ]{1,64}$/, 'must be a kind of object')), list(text)),
    /** Tables without rows of their own; absent from snapshots of earlier versions. */
    definitions_only: v.optional(definitionsOnlySchema(text)),
    /** Events that run in the source; absent from snapshots of earlier versions. */
    enabled_events: v.optional(list(text)),
    /** Code that names the source's database in its body, as `event nightly`; absent from snapshots of earlier versions. */
    names_database: v.optional(list(text)),
    /** Views of what is not there: stored, and made where they can be. */
    invalid_views: v.optional(list(text)),
    /** What the rows of a file are: table, columns in order, those that take text and no bytes, bytes of the longest row. */
    data: v.record(
      fileName,
      v.object({ table: text, columns: list(text), texts: list(text), longest_row: v.exactOptional(count) }),
    ),
    /** What the rights of the build's user kept out of it; absent where nothing, and from earlier versions. */
    hidden: v.exactOptional(list(hiddenSchema(text))),
  });
}

export type MysqlDetails = v.InferOutput<ReturnType<typeof mysqlDetails>>;
