import { changesColumns, changesLines, changesTitle } from '../../operations/changes/text.ts';
import { coverageColumns, coverageRows, coveredTableColumns } from '../../operations/sanitize/coverage-text.ts';
import { diffColumns, diffTitle, migrationLines } from '../../operations/snapshots/diff/diff-text.ts';
import { tableDiffLines, tableDiffTitle } from '../../operations/snapshots/diff/table-diff-text.ts';
import { hiddenColumnsText, REVEAL_FLAG, rowColumns, rowsTitle } from '../../operations/snapshots/rows/rows-text.ts';
import {
  circlesText,
  subsetColumns,
  subsetList,
  subsetPathColumn,
  subsetQuestion,
} from '../../operations/subset/text.ts';
import {
  checkedEntry,
  destinationCopyLines,
  MODES,
  type NoTargets,
  noTargetsText,
  targetColumns,
  targetInfoFacts,
} from '../../operations/targets/targets-text.ts';
import { layOutTable } from '../../presentation/shapes/table-layout.ts';
import { inFamilies, lackingLines, noSnapshotsLines } from '../../presentation/snapshot.ts';
import { snapshotColumns } from '../../presentation/snapshot-columns.ts';
import type { TargetInfo, TargetRow, TargetSnapshots } from '../../results/results.ts';
import type { ChangesResult } from '../../results/review/changes-results.ts';
import type { DiffResult, TableDiff } from '../../results/review/diff-results.ts';
import type { RowsResult } from '../../results/review/rows-results.ts';
import type { Coverage } from '../../results/review/sanitize-results.ts';
import type { SubsetPlanResult } from '../../results/subset-results.ts';
import { joinLines, printable } from '../../text/printable.ts';
import { printedFacts, questionLines } from './question.ts';
import { formatTable, type TableOptions } from './table.ts';

export interface TargetsView extends TableOptions, NoTargets {
  now: number;
}

/** The targets as a table, and below it why some of them cannot be reached. */
export function targetsText(targets: TargetRow[], view: TargetsView): string {
  const { style, file, now } = view;
  const mode = style.paint('dim', `${MODES[view.mode]}, from ${file ?? 'the variables'}`);
  if (targets.length === 0) return `${printable(noTargetsText(view))}\n${mode}`;
  const entries = targets.map(checkedEntry);
  const table = formatTable(targetColumns(entries, { glyphs: style.glyphs, now }), entries, view);
  const errors = targets.flatMap(({ name, error }) =>
    error ? [`${style.paint('bad', name)}: ${printable(error)}`] : [],
  );
  const notes = [...errors, ...destinationCopyLines(targets).map((line) => printable(line))];
  return [table, ...(notes.length > 0 ? ['', ...notes] : []), '', mode].join('\n');
}

/** All that is known of a target, a line a fact. */
export function targetInfoText(row: TargetRow & { info: TargetInfo }, now: number): string {
  return joinLines([row.name, ...printedFacts(targetInfoFacts(row, now))]);
}

export interface SnapshotsView extends TableOptions {
  now: number;
  /** The target lists snapshots that others have pushed. */
  shares: boolean;
}

/** A target's snapshots as a table, newest first. */
export function snapshotsText({ target, snapshots }: TargetSnapshots, view: SnapshotsView): string {
  if (snapshots.length === 0)
    return noSnapshotsLines(target, { shares: view.shares, byKey: false })
      .map((line) => printable(line))
      .join(' ');
  const columns = snapshotColumns(snapshots, view.now);
  const lacking = lackingLines(snapshots).map((line) => printable(line));
  return [formatTable(columns, inFamilies(snapshots), view), ...lacking].join('\n');
}

/** Formats the changes table by table, and the number of unchanged tables. */
export function diffText(result: DiffResult, options: TableOptions): string {
  const columns = diffColumns(result, options.style.glyphs);
  const { changes, from, to } = result;
  const sides = to ? [from, to] : [from];
  return [
    joinLines([diffTitle(result), ...migrationLines(result), ...lackingLines(sides)]),
    ...(changes.length > 0 ? ['', formatTable(columns, changes, options)] : []),
  ].join('\n');
}

/** Definitions as a unified diff, then rows. */
export function tableDiffText(changes: TableDiff, { style }: TableOptions): string {
  const lines = tableDiffLines(changes, { how: REVEAL_FLAG });
  return [tableDiffTitle(changes), '', ...lines.map(({ text, tone }) => style.paint(tone, text))].join('\n');
}

/** Tables with counts, definitions, and rows of the tables that were asked for. */
export function changesText(changes: ChangesResult, options: TableOptions): string {
  const lines = changesLines(changes, REVEAL_FLAG).map(({ text, tone }) => options.style.paint(tone, text));
  const tables = changes.tables.length > 0 ? ['', formatTable(changesColumns(), changes.tables, options)] : [];
  return [printable(changesTitle(changes)), ...tables, ...lines].join('\n');
}

/** The first rows of a table, and which columns are masked. */
export function printedRows(result: RowsResult, options: TableOptions): string {
  const title = rowsTitle(result, REVEAL_FLAG);
  if (result.rows.length === 0) return title;
  const columns = rowColumns(result.columns);
  const layout = layOutTable(columns, result.rows, options.columns ?? Number.POSITIVE_INFINITY);
  const hidden = layout.fits ? columns.length - layout.columns.length : 0;
  const table = ['', formatTable(columns, result.rows, options)];
  return [title, ...table, ...(hidden > 0 ? ['', hiddenColumnsText(hidden)] : [])].join('\n');
}

/** The columns that look personal, findings first, then what became of each table. */
export function coverageText(coverage: Coverage, options: TableOptions): string {
  const { glyphs } = options.style;
  const columns = coverageRows(coverage);
  const { tables } = coverage;
  return [
    ...(columns.length > 0 ? ['', formatTable(coverageColumns({ glyphs }), columns, options)] : []),
    ...(tables.length > 0 ? ['', formatTable(coveredTableColumns(glyphs), tables, options)] : []),
  ].join('\n');
}

export function subsetPlanText(plan: SubsetPlanResult, options: TableOptions): string {
  const columns = [...subsetColumns({ glyphs: options.style.glyphs }), subsetPathColumn()];
  const question = { ...subsetQuestion(plan), warnings: plan.warnings.map(({ message }) => message) };
  return [
    ...questionLines(question, options.columns),
    '',
    formatTable(columns, subsetList(plan.tables), options),
    ...circlesText(plan.circles).flatMap((line) => ['', printable(line)]),
  ].join('\n');
}
