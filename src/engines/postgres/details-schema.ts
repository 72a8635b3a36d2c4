import * as v from 'valibot';
import { count, fileName, list, sha256 } from '../../repository/manifest/values.ts';
import { excludedRowsSchema } from '../../results/excluded-rows.ts';
import { definitionsOnlySchema } from '../../results/manifest/definitions-only.ts';
import { hiddenSchema } from '../../results/manifest/hidden-objects.ts';

/** The PostgreSQL part of a manifest; `text` is the schema of a name. Optional keys are absent from older snapshots. */
export function postgresDetails(text: v.GenericSchema<string>) {
  return v.object({
    schemas: list(v.object({ oid: count, name: text })),
    data: v.record(
      fileName,
      v.object({
        schema: text,
        table: text,
        columns: list(text),
        /** An extension created the table and may insert rows into it. */
        of_extension: v.boolean(),
        /** The partitioned table through which the rows are loaded. */
        root: v.optional(v.object({ schema: text, table: text })),
        /** The partitioned table of any other partition. */
        partition_of: v.exactOptional(v.object({ schema: text, table: text })),
        /** In the source's catalog; absent where the archive has an entry for the rows. */
        oid: v.exactOptional(count),
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
      /** `index`, `constraint`, `trigger`, `view`, `function` … → names with schema. */
      objects: v.record(v.pipe(v.string(), v.regex(/^[a-z_ ]{1,64}$/, 'must be a kind of object')), list(text)),
      sequences: list(
        v.object({ name: text, last_value: v.nullable(v.pipe(v.number(), v.finite())), ascending: v.boolean() }),
      ),
      large_objects: v.optional(v.object({ count, bytes: count })),
    }),
    replication: v.optional(list(text)),
    /** Objects that need a schema outside the snapshot. */
    left_out: list(
      v.object({
        class: v.optional(count),
        /** 0 for a part of a table's definition, which has no entry in the archive. */
        oid: count,
        kind: text,
        name: text,
        needs: text,
      }),
    ),
    hidden: v.exactOptional(list(hiddenSchema(text))),
    definitions_only: v.optional(definitionsOnlySchema(text)),
    excluded_rows: v.exactOptional(excludedRowsSchema(text)),
    foreign_servers: v.exactOptional(list(text)),
    left_out_schemas: v.optional(list(v.object({ schema: text, tables: count, bytes: v.optional(count) }))),
    /** Schemas outside the selection that its tables need: every load restores them. */
    needed_schemas: v.optional(list(text)),
    /** Objects that only a superuser may create, besides extensions and event triggers. */
    superuser_objects: v.exactOptional(list(text)),
    /** Digest of the schema objects, without content: see `digestDefinitions`. */
    definitions: v.exactOptional(sha256),
  });
}

export type PostgresDetails = v.InferOutput<ReturnType<typeof postgresDetails>>;
