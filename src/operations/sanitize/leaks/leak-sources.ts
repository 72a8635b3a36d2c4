import * as v from 'valibot';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import { type ColumnDigest, type ColumnFacts, columnName } from '../../../sanitize/column-facts.ts';
import type { Suspicion } from '../../../sanitize/detector/detect.ts';
import { type LeakColumn, tellingBits } from '../../../sanitize/leaks/value-class.ts';
import { MOST_COLUMNS, scaleFor } from '../../../sanitize/leaks/value-table.ts';
import type { ColumnPlace } from '../../../sanitize/suggestion.ts';
import { splitName } from '../../../text/table-names.ts';

export type CountedSource = LeakColumn & { values: number };

export interface LeakSourceOptions {
  /** Columns of the restored original. */
  columns: ColumnFacts[];
  suspicions: Suspicion[];
  /** Digests of the suspicious columns before the query. */
  before: Map<string, ColumnDigest>;
  /** Columns that may keep their values: these may be anywhere. */
  kept: Set<string>;
}

export function sourcesOf({ suspicions, before, kept }: LeakSourceOptions): Map<string, CountedSource> {
  const sources = new Map<string, CountedSource>();
  const counted = suspicions.map(({ facts }) => before.get(columnName(facts))?.values ?? 0);
  const bits = tellingBits(counted.reduce((sum, values) => sum + values, 0));
  for (const [at, { facts, kind }] of suspicions.entries()) {
    const name = columnName(facts);
    const values = counted[at] ?? 0;
    if (kept.has(name) || values === 0 || sources.size === MOST_COLUMNS) continue;
    const { family, sampled, distinct } = facts;
    sources.set(name, {
      id: sources.size,
      kind,
      isDate: family === 'date' || family === 'time',
      repeats: sampled >= REPEATS_FROM && distinct < REPEATS_SHARE * sampled,
      hasParts: family === 'document' || kind === 'free_text',
      tellingBits: bits,
      scale: scaleFor(values),
      values,
    });
  }
  return sources;
}

const REPEATS_FROM = 20;
const REPEATS_SHARE = 0.1;

const place = v.object({ schema: v.string(), table: v.string() });

const dataSchema = v.record(
  v.string(),
  v.object({
    columns: v.array(v.string()),
    root: v.optional(place),
    partition_of: v.optional(place),
  }),
);

/** The columns of stored rows by table; those of a partition are its table's. */
export function storedColumns({ details, tables }: Manifest): Map<string, ColumnPlace[]> {
  const data = v.parse(v.optional(dataSchema, {}), details.data);
  return new Map(
    tables.map(({ name, file }) => {
      const { columns = [], partition_of, root = partition_of } = data[file.name] ?? {};
      const { schema, rest } = splitName(name);
      const owner = { schema: root?.schema ?? schema, table: root?.table ?? rest };
      return [name, columns.map((column) => ({ ...owner, column }))];
    }),
  );
}

/** The same as `schema.table.column`. */
export function columnsByTable(manifest: Manifest): Map<string, string[]> {
  return new Map([...storedColumns(manifest)].map(([name, columns]) => [name, columns.map(columnName)]));
}

const byMysqldump = v.object({ flavour: v.literal('mysql'), program: v.object({}) });

/** Without those that mysqldump leaves out, which earlier versions named as well. */
export function rowColumns(original: Manifest, columns: ColumnFacts[]): Map<string, string[]> {
  const all = columnsByTable(original);
  if (!v.is(byMysqldump, original.details)) return all;
  const generated = new Set(columns.filter((facts) => facts.generated).map(columnName));
  return new Map([...all].map(([table, names]) => [table, names.filter((name) => !generated.has(name))]));
}
