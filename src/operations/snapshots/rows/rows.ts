import * as v from 'valibot';
import { profileOf } from '../../../engines/list.ts';
import {
  createRowScanner,
  type RowFormat,
  type ScannedRow,
  valueText,
} from '../../../engines/shared/rows/row-scanner.ts';
import {
  filesOfTable,
  type Manifest,
  type ManifestFile,
  type ManifestTable,
} from '../../../repository/manifest/manifest.ts';
import { createObjectPool, type ObjectPool } from '../../../repository/objects/object-pool.ts';
import type { RowColumn, RowsResult } from '../../../results/review/rows-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { PERSONAL_KINDS } from '../../../sanitize/detector/kinds.ts';
import { personalColumns } from '../../../sanitize/personal-columns.ts';
import { nearestFew } from '../../../text/nearest.ts';
import { shell } from '../../../text/shell-word.ts';
import { findNames, splitName } from '../../../text/table-names.ts';
import { localRepository } from '../local-repository.ts';
import { snapshotReader } from '../snapshot-reader.ts';
import { type FoundSnapshot, findSnapshot, type SnapshotRequest } from '../snapshots.ts';

export interface RowsRequest extends SnapshotRequest {
  /** `schema.table` */
  table: string;
  /** Default 50, at most 1000. */
  limit?: number;
  /** Rows to pass over before the first one. Default 0. */
  skip?: number;
  /** Values that look like personal data as they are. */
  reveal?: boolean;
  /** With the columns of the primary key, which are read from the definition. */
  key?: boolean;
}

const DEFAULT_ROWS = 50;
export const MOST_ROWS = 1000;

/** Bytes of each value, and of all values together. */
const MOST_VALUE_BYTES = 4096;
const MOST_BYTES = 8 * 1024 * 1024;

/** The first rows of a table, from the snapshot on this machine: without a database. */
export async function readRows(context: Context, request: RowsRequest): Promise<RowsResult> {
  const { target, limit = DEFAULT_ROWS, skip = 0, reveal = false } = request;
  if (limit < 1 || limit > MOST_ROWS) throw limitInvalid(limit);
  const found = await findSnapshot(context, request);
  assertLocal(found, target);
  const table = tableNamed(found.manifest, request.table);
  const columns = columnsOf(found.manifest, table);
  const rows: ScannedRow[] = [];
  let bytes = 0;
  let passed = 0;
  await scanRows(context, found.manifest, {
    files: filesOfTable(table),
    mostBytes: MOST_VALUE_BYTES,
    onRow(row) {
      if (passed < skip) {
        passed += 1;
        return true;
      }
      bytes += row.values.reduce((sum, value) => sum + (value?.bytes.length ?? 0), 0);
      rows.push(row);
      return rows.length < limit && bytes < MOST_BYTES;
    },
  });
  const shown = maskedRows({ table: table.name, columns, rows, reveal });
  const key = request.key ? { key: await keyOf(context, found.manifest, table) } : {};
  return {
    target,
    snapshot: found.row,
    table: table.name,
    ...shown,
    ...key,
    ...(skip > 0 && { skipped: skip }),
    total: table.rows,
  };
}

/** In the order of the key; none where it is missing or unknown. */
async function keyOf(context: Context, manifest: Manifest, { name: table }: ManifestTable): Promise<string[]> {
  const { engineOf } = await import('../../../engines/registry.ts');
  await using pool = createObjectPool(1);
  const stored = await engineOf(manifest.engine).readTable({
    manifest,
    table,
    read: readerOf(context, manifest, pool),
  });
  return stored?.key ?? [];
}

export function readerOf(context: Context, manifest: Manifest, pool: ObjectPool) {
  const { signal } = context;
  return snapshotReader({
    ...{ manifest, pool, signal },
    repository: localRepository(context),
    state: 'Nothing was changed.',
  });
}

export interface RowsToMask {
  table: string;
  columns: string[];
  rows: ScannedRow[];
  reveal: boolean;
}

/** Replaces values that look like personal data, except for NULL. */
export function maskedRows({ table, columns, rows, reveal }: RowsToMask): Pick<RowsResult, 'columns' | 'rows' | 'cut'> {
  const texts = rows.map(({ values }) => columns.map((_, index) => textOf(values[index])));
  const { schema, rest } = splitName(table);
  const samples = columns.map((_, index) => texts.flatMap((row) => row[index] ?? []));
  const personal = personalColumns({ schema, table: rest, columns, samples });
  // Snapshots of earlier versions name columns that mysqldump leaves out: any value may be that of another column.
  const isShifted = rows.some(({ values }) => values.length !== columns.length);
  const isMasked = (index: number): boolean => (isShifted || personal.has(index)) && !reveal;
  return {
    columns: columns.map((name, index): RowColumn => {
      const kind = personal.get(index);
      return { name, personal: kind === undefined ? null : PERSONAL_KINDS[kind], masked: isMasked(index) };
    }),
    rows: texts.map((row) => row.map((text, index) => (text !== null && isMasked(index) ? MASK : text))),
    cut: rows.flatMap(({ values }, row) =>
      values.flatMap((value, column) =>
        value && value.length > value.bytes.length && !isMasked(column) ? [{ row, column, bytes: value.length }] : [],
      ),
    ),
  };
}

/** Replaces any value; it does not disclose the length. */
const MASK = '***';

function textOf(value: ScannedRow['values'][number] | undefined): string | null {
  return value ? valueText(value) : null;
}

export interface RowScan {
  files: ManifestFile[];
  mostBytes: number;
  onRow: (row: ScannedRow) => boolean;
}

/** Reads stored rows until there are no more, or `onRow` has enough. */
export async function scanRows(context: Context, manifest: Manifest, scan: RowScan): Promise<void> {
  const { signal } = context;
  await using pool = createObjectPool(1);
  const read = readerOf(context, manifest, pool);
  const { mostBytes } = scan;
  const { emptyEnd } = profileOf(manifest.engine).rows;
  let goesOn = true;
  const onRow = (row: ScannedRow): boolean => {
    goesOn = scan.onRow(row);
    return goesOn;
  };
  for (const file of scan.files) {
    const options = { format: formatOf(manifest), mostBytes, emptyEnd, onRow };
    const scanner = createRowScanner(options);
    for await (const chunk of read(file)) {
      signal.throwIfAborted();
      if (!scanner.push(chunk)) break;
    }
    if (!goesOn) return;
  }
}

const programSchema = v.object({ program: v.object({ name: v.string() }) });

export function formatOf({ engine, details }: Manifest): RowFormat {
  return v.is(programSchema, details) ? profileOf(engine).rows.byProgram : 'copied';
}

const dataSchema = v.record(v.string(), v.object({ columns: v.array(v.string()) }));

/** In the order of the stored values. */
export function columnsOf({ details }: Manifest, { name, file }: ManifestTable): string[] {
  const data = v.parse(v.optional(dataSchema, {}), details.data);
  const columns = data[file.name]?.columns;
  if (columns) return columns;
  throw new UserError('rows_unreadable', `The snapshot does not name the columns of ${name}`, {
    hint: 'Load the table instead: tool load TARGET --tables NAME',
  });
}

export function tableNamed({ tables }: Manifest, name: string): ManifestTable {
  const names = tables.map((table) => table.name);
  const unqualified = names.filter((other) => splitName(other).rest === name);
  const meant = findNames(name, names);
  const [found, another] = meant.length > 0 ? meant : unqualified;
  const table = tables.find((other) => other.name === found);
  if (another !== undefined) {
    throw new UserError(
      'name_ambiguous',
      `Ambiguous table ${name}: ${meant.length > 0 ? meant.join(', ') : unqualified.join(', ')}`,
      { hint: 'Write the name with its schema.' },
    );
  }
  if (table) return table;
  const near = nearestFew(name, names, 3);
  throw new UserError('table_unknown', `The snapshot has no table ${name}`, {
    hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `Write its name as: ${names[0] ?? 'schema.table'}`,
  });
}

export function assertLocal({ local, row }: FoundSnapshot, target: string): void {
  if (local) return;
  throw new UserError('snapshot_not_here', `Snapshot ${row.id} of ${target} is not on this machine`, {
    hint: `Pull it first: ${shell`tool pull ${target} ${row.id}`}`,
  });
}

function limitInvalid(limit: number): UserError {
  return new UserError('usage', `--limit must be from 1 to ${MOST_ROWS}, not ${limit}`, {
    hint: `For example: --limit ${DEFAULT_ROWS}`,
  });
}
