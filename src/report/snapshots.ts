import { hiddenText } from '../results/hidden-objects.ts';
import { leftOutText } from '../results/left-out-schemas.ts';
import type { SnapshotLocation, SnapshotRow, TargetSnapshots } from '../results/results.ts';
import { SIGNATURE_WORDS } from '../results/signature-text.ts';
import { formatAge, formatBytes, formatCount, formatNumberOf } from '../text/format.ts';
import { type Column, formatTable, type TableOptions } from './table.ts';

export interface SnapshotsTextOptions extends TableOptions {
  now: Date;
  /** Whether the target lists what others have pushed. */
  shares: boolean;
}

/** A target's snapshots as a table, newest first. */
export function snapshotsText({ target, snapshots }: TargetSnapshots, options: SnapshotsTextOptions): string {
  if (snapshots.length > 0) {
    const table = formatTable(snapshotColumns(snapshots, options.now), snapshots, options);
    return [table, ...leftOutLines(snapshots), ...hiddenLines(snapshots)].join('\n');
  }
  return options.shares
    ? `Nothing is shared with target ${target} yet. Others share by tool push, and only what is sanitized, unless --original is said.`
    : `Target ${target} has no snapshots yet. Take one: tool build ${target}`;
}

/** `snapshot 0 of app (k3f9…): 25 tables, 200,123 rows, 45.1 MB (12.0 MB added)` */
export function snapshotLine(target: string, snapshot: SnapshotRow): string {
  const { index, id, tables, rows, size_bytes, stored_bytes, program } = snapshot;
  const contents = [formatNumberOf(tables, 'table'), formatNumberOf(rows, 'row'), formatBytes(size_bytes)].join(', ');
  return `snapshot ${index} of ${target} (${id}): ${contents} (${formatBytes(stored_bytes)} added)${program === undefined ? '' : `, by ${program}`}`;
}

/** What is not in the snapshots, a line for those that leave out the same; no line where nothing is left out. */
function leftOutLines(snapshots: SnapshotRow[]): string[] {
  return lackingLines(snapshots, ({ left_out_schemas = [] }) => leftOutText(left_out_schemas)).map(
    ([which, text]) => `Not in ${which}: ${text}`,
  );
}

/** What the users who built them could not read, in the same way. */
export function hiddenLines(snapshots: SnapshotRow[]): string[] {
  return lackingLines(snapshots, ({ hidden = [] }) => hiddenText(hidden)).map(
    ([which, text]) => `Not in ${which}, hidden from its user: ${text}`,
  );
}

function lackingLines(snapshots: SnapshotRow[], textOf: (row: SnapshotRow) => string): [string, string][] {
  const lacking = snapshots.filter((row) => textOf(row) !== '');
  return [...Map.groupBy(lacking, textOf)].map(([text, rows]) => {
    const indexes = [...new Set(rows.map(({ index }) => index))];
    return [`${indexes.length === 1 ? 'snapshot' : 'snapshots'} ${indexes.join(', ')}`, text];
  });
}

export function builtText(target: string, snapshot: SnapshotRow): string {
  const lines = [`Built ${snapshotLine(target, snapshot)}`, ...leftOutLines([snapshot]), ...hiddenLines([snapshot])];
  return lines.join('\n');
}

const PLACES: Record<SnapshotLocation, string> = { local: 'this machine', remote: 'the bucket' };

/** `this machine and the bucket` */
export function placesText(places: SnapshotLocation[]): string {
  return places.map((place) => PLACES[place]).join(' and ');
}

function snapshotColumns(snapshots: SnapshotRow[], now: Date): Column<SnapshotRow>[] {
  const shared = snapshots.some(({ origin }) => origin !== undefined);
  const byProgram = snapshots.some(({ program }) => program !== undefined);
  return [
    { title: 'INDEX', cell: ({ index }) => String(index), align: 'right' },
    { title: 'ID', cell: ({ id }) => id },
    ...(shared ? [{ title: 'OF', cell: ({ origin }: SnapshotRow) => origin ?? '' }] : []),
    { title: 'CREATED', cell: ({ created_at }) => created_at.replace(/\.\d+Z$/, 'Z') },
    { title: 'AGE', cell: ({ created_at }) => formatAge(now.getTime() - Date.parse(created_at)) },
    { title: 'KIND', cell: ({ sanitized }) => (sanitized ? 'sanitized' : 'original') },
    { title: 'SERVER', cell: ({ engine, server_version }) => `${engine} ${server_version}` },
    ...(byProgram ? [{ title: 'PROGRAM', cell: ({ program }: SnapshotRow) => program ?? '' }] : []),
    { title: 'TABLES', cell: ({ tables }) => formatCount(tables), align: 'right' },
    { title: 'ROWS', cell: ({ rows }) => formatCount(rows), align: 'right' },
    { title: 'SIZE', cell: ({ size_bytes }) => formatBytes(size_bytes), align: 'right' },
    { title: 'ADDED', cell: ({ stored_bytes }) => formatBytes(stored_bytes), align: 'right' },
    { title: 'SIGNATURE', cell: ({ signature }) => SIGNATURE_WORDS[signature.state] },
    { title: 'WHERE', cell: ({ where }) => where.join('+') },
    { title: 'NOTE', cell: ({ note }) => note ?? '' },
  ];
}
