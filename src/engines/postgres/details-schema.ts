import * as v from 'valibot';
import { count, fileName, list } from '../../repository/values.ts';
import { definitionsOnlySchema } from '../../results/definitions-only.ts';
import { hiddenSchema } from '../../results/hidden-objects.ts';

export function postgresDetails(text: v.GenericSchema<string>) {
  return v.object({
    schemas: list(v.object({ oid: count, name: text })),
    /** For COPY, by the name of the file. */
    data: v.record(
      fileName,
      v.object({
        schema: text,
        table: text,
        columns: list(text),
        /** The extension may have created rows. */
        of_extension: v.boolean(),
        /** The partitioned table to load through, where it is not the partition itself. */
        root: v.optional(v.object({ schema: text, table: text })),
      }),
    ),
    extensions: list(v.object({ name: text, schema: text })),
    roles: list(text),
    locale: v.object({
      encoding: text,
      collate: text,
      ctype: text,
      /** `c` libc, `i` ICU, `b` built in. */
      provider: text,
      icu_locale: v.nullable(text),
    }),
    settings: list(text),
    inventory: v.object({
      /** Kind (`index`, `function` …) → names with schema. */
      objects: v.record(v.pipe(v.string(), v.regex(/^[a-z_ ]{1,64}$/, 'must be a kind of object')), list(text)),
      sequences: list(
        v.object({ name: text, last_value: v.nullable(v.pipe(v.number(), v.finite())), ascending: v.boolean() }),
      ),
      /** Absent from snapshots of earlier versions. */
      large_objects: v.optional(v.object({ count, bytes: count })),
    }),
    /** Publications and subscriptions of the source; absent from earlier versions. */
    replication: v.optional(list(text)),
    /** Objects that need a schema that is not in the snapshot. */
    left_out: list(
      v.object({
        /** Absent from snapshots of earlier versions. */
        class: v.optional(count),
        /** 0 for a part of a table's definition, which has no entry in the archive. */
        oid: count,
        kind: text,
        name: text,
        needs: text,
      }),
    ),
    /** Objects hidden from the build's user; absent from snapshots of earlier versions. */
    hidden: v.exactOptional(list(hiddenSchema(text))),
    /** Foreign tables; absent from snapshots of earlier versions. */
    definitions_only: v.optional(definitionsOnlySchema(text)),
    /** Schemas of the source that are not in the snapshot; absent from earlier versions. */
    left_out_schemas: v.optional(list(v.object({ schema: text, tables: count }))),
    /** Schemas that were not chosen but that chosen tables need: every load restores them. */
    needed_schemas: v.optional(list(text)),
  });
}

export type PostgresDetails = v.InferOutput<ReturnType<typeof postgresDetails>>;
