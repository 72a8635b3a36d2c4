import * as v from 'valibot';
import { type Details, readDetail } from './manifest/read-detail.ts';

/** Returns the schema of what a build left out by `exclude_rows`; `text` is the schema of a name. */
export function excludedRowsSchema(text: v.GenericSchema<string>) {
  return v.object({
    tables: v.pipe(v.array(text), v.description('Tables whose rows were not read.')),
    nullified: v.pipe(
      v.array(
        v.object({
          table: text,
          columns: v.array(text),
          references: v.pipe(text, v.description('The table without rows, or with a column that is NULL.')),
          rows: v.pipe(
            v.number(),
            v.description('Rows whose reference is NULL in the snapshot and not in the source.'),
          ),
        }),
      ),
      v.description('Foreign keys to these tables, with the columns that are NULL in the snapshot.'),
    ),
  });
}

export type ExcludedRows = v.InferOutput<ReturnType<typeof excludedRowsSchema>>;
export type NullifiedKey = ExcludedRows['nullified'][number];

const recorded = excludedRowsSchema(v.string());

/** Returns what `exclude_rows` left out of a snapshot, by its manifest's details; `null` for a snapshot with all rows. */
export function excludedRowsOf(manifest: Details): ExcludedRows | null {
  return readDetail(manifest, 'excluded_rows', recorded);
}
