import * as v from 'valibot';
import { definitionsOnlySchema } from '../../definitions-only.ts';
import { hiddenSchema } from '../../hidden-objects.ts';
import { count, fileName, list } from '../values.ts';

/** What a manifest holds for PostgreSQL beyond what every engine records; `text` is what a name in it may be. */
export function postgresDetails(text: v.GenericSchema<string>) {
  return v.object({
    /** Oids are those of the archive's table of contents. */
    schemas: list(v.object({ oid: count, name: text })),
    /** What COPY needs to know of each table, by the name of its file. */
    data: v.record(
      fileName,
      v.object({
        schema: text,
        table: text,
        columns: list(text),
        /** Whether an extension made the table, and may have put rows into it. */
        of_extension: v.boolean(),
        /** The partitioned table through which the rows are loaded, where it is not the partition itself. */
        root: v.optional(v.object({ schema: text, table: text })),
      }),
    ),
    extensions: list(v.object({ name: text, schema: text })),
    /** Roles that policies name. */
    roles: list(text),
    locale: v.object({
      encoding: text,
      collate: text,
      ctype: text,
      /** `c` libc, `i` ICU, `b` built in. */
      provider: text,
      icu_locale: v.nullable(text),
    }),
    /** `ALTER DATABASE … SET`, as `name=value`. */
    settings: list(text),
    /** Compared after a restore. */
    inventory: v.object({
      /** `index`, `constraint`, `trigger`, `view`, `function` … → names, each with its schema. */
      objects: v.record(v.pipe(v.string(), v.regex(/^[a-z_ ]{1,64}$/, 'must be a kind of object')), list(text)),
      sequences: list(
        v.object({ name: text, last_value: v.nullable(v.pipe(v.number(), v.finite())), ascending: v.boolean() }),
      ),
      /** Absent from snapshots of earlier versions. */
      large_objects: v.optional(v.object({ count, bytes: count })),
    }),
    /** Publications and subscriptions of the source, which are not in the snapshot; absent from earlier versions. */
    replication: v.optional(list(text)),
    /** Objects that cannot be restored without a schema that is not in the snapshot. */
    left_out: list(
      v.object({
        /** Of the system catalog; absent from snapshots of earlier versions. */
        class: v.optional(count),
        /** 0 for a part of a table's definition, which is not in the archive. */
        oid: count,
        kind: text,
        name: text,
        needs: text,
      }),
    ),
    /** What the rights of the build's user kept out of it; absent where nothing, and from earlier versions. */
    hidden: v.exactOptional(list(hiddenSchema(text))),
    /** Foreign tables; absent from snapshots of earlier versions. */
    definitions_only: v.optional(definitionsOnlySchema(text)),
    /** Foreign servers; absent where there are none, and from earlier versions. */
    foreign_servers: v.exactOptional(list(text)),
    /** Schemas of the source that are not in the snapshot; absent from earlier versions. */
    left_out_schemas: v.optional(list(v.object({ schema: text, tables: count }))),
    /** Schemas that were not chosen and that tables of the chosen ones cannot be without: every load restores them. */
    needed_schemas: v.optional(list(text)),
  });
}

export type PostgresDetails = v.InferOutput<ReturnType<typeof postgresDetails>>;
