import * as v from 'valibot';
import { count, fileName, list } from '../../repository/values.ts';
import { definitionsOnlySchema } from '../../results/definitions-only.ts';
import { hiddenSchema } from '../../results/hidden-objects.ts';

export function mysqlDetails(text: v.GenericSchema<string>) {
  return v.object({
    flavour: v.picklist(['mysql', 'mariadb']),
    program: v.exactOptional(v.object({ name: text, version: text })),
    database: text,
    collations: list(text),
    features: list(text),
    inventory: v.record(v.pipe(v.string(), v.regex(/^[a-z_ ]{1,64}$/, 'must be a kind of object')), list(text)),
    /** Tables without rows of their own; absent from snapshots of earlier versions. */
    definitions_only: v.optional(definitionsOnlySchema(text)),
    /** Events enabled in the source; absent from snapshots of earlier versions. */
    enabled_events: v.optional(list(text)),
    /** Code that names the source's database, as `event nightly`; absent from snapshots of earlier versions. */
    names_database: v.optional(list(text)),
    invalid_views: v.optional(list(text)),
    /** By file: table, columns in order, text-only columns, bytes of the longest row. */
    data: v.record(
      fileName,
      v.object({ table: text, columns: list(text), texts: list(text), longest_row: v.exactOptional(count) }),
    ),
    /** Objects hidden from the build's user; absent from snapshots of earlier versions. */
    hidden: v.exactOptional(list(hiddenSchema(text))),
  });
}

export type MysqlDetails = v.InferOutput<ReturnType<typeof mysqlDetails>>;
