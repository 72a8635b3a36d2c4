import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { filesOfTable, type Manifest, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import type { EarlierSnapshot } from '../../../facets/restore.ts';
import type { EarlierTables } from '../../../shared/rows/compare-tables.ts';
import type { TableDefinition } from '../../catalog/definitions/definitions.ts';
import { type Details, detailsOf } from '../../details.ts';
import { withoutCounter } from '../stored-table.ts';

/** Content of a base copy by the snapshot that it was made from, by which a later load finds what differs from it. */
export const baseContentsSchema = v.object({
  sanitized: v.boolean(),
  /** Why a load cannot be of the differences only. */
  obstacle: v.nullable(v.string()),
  tables: v.array(
    v.object({
      /** The name in the snapshot. */
      name: v.string(),
      /** Digests of what the columns are, and of what is given to LOAD DATA, and how. */
      columns: v.string(),
      rows: v.string(),
    }),
  ),
});
export type BaseContents = v.InferOutput<typeof baseContentsSchema>;

export interface LoadedContents {
  manifest: Manifest;
  details: Details;
  definitions: TableDefinition[];
  /** Reason for which the tables may have other rows by now. */
  obstacle: string | null;
}

export function describeContents({ manifest, details, definitions, obstacle }: LoadedContents): BaseContents {
  const columns = digestColumns(definitions);
  const tables = manifest.tables.flatMap((table) => {
    const name = details.data[table.file.name]?.table;
    const digest = name === undefined ? undefined : columns.get(name);
    if (name === undefined || digest === undefined) return [];
    return [{ name, columns: digest, rows: digestRows(table, details) }];
  });
  return { sanitized: manifest.sanitized, obstacle: obstacle ?? byProgram(details), tables };
}

/** Its rows are statements, which say less exactly what they are. */
export function byProgram({ program }: Details): string | null {
  return program ? `the snapshot was built by ${program.name}` : null;
}

/** By the names of the tables. Indexes but the primary key, and foreign keys, are made anew in any case. */
export function digestColumns(definitions: TableDefinition[]): Map<string, string> {
  return new Map(definitions.map(({ name, create }) => [name, digestOf(withoutCounter(create))]));
}

export function digestRows(table: ManifestTable, details: Details): string {
  const { table: name, columns, texts } = details.data[table.file.name] ?? {};
  const files = filesOfTable(table).map(({ sha256 }) => sha256);
  return digestOf(JSON.stringify([name, columns, texts, table.rows, files]));
}

/** 128 bits, which no accident makes equal. */
const DIGEST_CHARACTERS = 32;

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_CHARACTERS);
}

/** Columns are not compared: those of a base copy whose rows are replaced have the same definition. */
export function earlierTables({ manifest, read }: EarlierSnapshot): EarlierTables {
  const details = detailsOf(manifest);
  const tables = new Map(manifest.tables.map((table) => [table.name, table]));
  return {
    read,
    find(table, digest) {
      const before = tables.get(table.name);
      return before && digestRows(before, details) === digest ? before : null;
    },
  };
}
