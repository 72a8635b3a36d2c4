import * as v from 'valibot';
import { count, fileName, list } from '../../repository/manifest/values.ts';
import { excludedRowsSchema } from '../../results/excluded-rows.ts';
import { definitionsOnlySchema } from '../../results/manifest/definitions-only.ts';
import { hiddenSchema } from '../../results/manifest/hidden-objects.ts';

const MOST_BUCKETS = 1024;

/** A column with a histogram of MySQL, or with engine-independent statistics of MariaDB; never its values. */
export function histogramSchema(text: v.GenericSchema<string>) {
  return v.object({
    table: text,
    column: text,
    /** MySQL only. */
    buckets: v.exactOptional(v.pipe(count, v.minValue(1), v.maxValue(MOST_BUCKETS))),
    /** `AUTO UPDATE` of MySQL. */
    automatic: v.exactOptional(v.literal(true)),
  });
}

export type Histogram = v.InferOutput<ReturnType<typeof histogramSchema>>;

/**
 * The MySQL and MariaDB part of a manifest; `text` is the schema of a name. Optional keys are absent from older
 * snapshots.
 */
export function mysqlDetails(text: v.GenericSchema<string>) {
  return v.object({
    flavour: v.picklist(['mysql', 'mariadb']),
    program: v.exactOptional(v.object({ name: text, version: text })),
    database: text,
    collations: list(text),
    features: list(text),
    inventory: v.record(v.pipe(v.string(), v.regex(/^[a-z_ ]{1,64}$/, 'must be a kind of object')), list(text)),
    definitions_only: v.optional(definitionsOnlySchema(text)),
    excluded_rows: v.exactOptional(excludedRowsSchema(text)),
    enabled_events: v.optional(list(text)),
    /** Programs that name the source's database in their body, as `event nightly`. */
    names_database: v.optional(list(text)),
    /** Views of missing tables: stored, and created where they are valid. */
    invalid_views: v.optional(list(text)),
    /** The rows of a file: table, columns in order, text columns, bytes of the longest row. */
    data: v.record(
      fileName,
      v.object({ table: text, columns: list(text), texts: list(text), longest_row: v.exactOptional(count) }),
    ),
    histograms: v.exactOptional(list(histogramSchema(text))),
    /** Values of the first key column in a part of a table that is stored in parts. */
    part_widths: v.exactOptional(list(v.object({ table: text, width: v.pipe(count, v.minValue(1)) }))),
    hidden: v.exactOptional(list(hiddenSchema(text))),
  });
}

export type MysqlDetails = v.InferOutput<ReturnType<typeof mysqlDetails>>;
