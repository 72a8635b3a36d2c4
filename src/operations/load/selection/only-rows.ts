import { diffLines } from '../../../config/edit/diff-lines.ts';
import type { RestorePlan } from '../../../engines/facets/restore.ts';
import type { Database } from '../../../engines/open-database.ts';
import { engineOf } from '../../../engines/registry.ts';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import { excludedRowsOf } from '../../../results/excluded-rows.ts';
import type { LoadPlan } from '../../../results/load-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { boundedLines, boundedList } from '../../../text/bounded-list.ts';
import { shell } from '../../../text/shell-word.ts';
import type { FoundSnapshot } from '../../snapshots/snapshots.ts';
import { openDefinitions } from './choose-tables.ts';

/** Most names in a message, and lines of each table. */
const LISTED = 20;

export interface DefinitionsRequest {
  target: string;
  found: FoundSnapshot;
  database: Database;
  tables: ReadonlySet<string>;
}

/**
 * Refuses to replace rows of tables that are not defined as in the snapshot, and by those of which the snapshot has no
 * rows by choice.
 */
export async function assertReplaceableRows(
  context: Context,
  { target, found, database, tables }: DefinitionsRequest,
): Promise<void> {
  const { manifest } = found;
  assertHasRows(manifest, tables);
  await using definitions = await openDefinitions(context, found);
  const names = [...tables];
  const present = await database.restore.readPresentTables({ tables: names, directory: definitions.directory });
  const differing: { table: string; lines: string[] }[] = [];
  for (const table of names) {
    const stored = await engineOf(manifest.engine).readTable({ manifest, table, read: definitions.read });
    const lines = differencesOf(stored?.structure ?? null, present.get(table) ?? null);
    if (lines.length > 0) differing.push({ table, lines });
  }
  if (differing.length === 0) return;
  const [first] = differing;
  const list = boundedList(
    differing.map(({ table }) => table),
    LISTED,
  );
  throw new UserError(
    'definitions_differ',
    `The destination defines tables other than snapshot ${manifest.id}: ${list}`,
    {
      details: differing.slice(0, LISTED).flatMap(({ table, lines }) => [`${table}:`, ...boundedLines(lines, LISTED)]),
      hint: `Migrate the destination, or load the whole snapshot. Between snapshots: ${shell`tool diff ${target} 1 0 --table ${first?.table ?? ''}`}`,
    },
  );
}

function assertHasRows(manifest: Manifest, tables: ReadonlySet<string>): void {
  const without = (excludedRowsOf(manifest)?.tables ?? []).filter((table) => tables.has(table));
  if (without.length === 0) return;
  throw new UserError(
    'rows_not_replaceable',
    `Snapshot ${manifest.id} has no rows of ${boundedList(without, LISTED)}: exclude_rows left them out`,
    { hint: 'Choose a snapshot with these rows, or leave the table out of --tables.' },
  );
}

function differencesOf(snapshot: string | null, destination: string | null): string[] {
  if (snapshot === null) return ['the snapshot has no definition of it'];
  if (destination === null) return ['the destination has no such table'];
  const [before, after] = [snapshot.split('\n'), destination.split('\n')];
  return diffLines(snapshot, destination).map(({ kind, number }) =>
    kind === 'removed' ? `  snapshot:    ${before[number] ?? ''}` : `  destination: ${after[number] ?? ''}`,
  );
}

/** The rows of each table now and afterwards, and what stays as it is. */
export function plannedOnlyRows({ onlyRows, tables }: RestorePlan): LoadPlan['only_rows'] {
  if (!onlyRows) return undefined;
  const present = new Map(onlyRows.present.map(({ table, rows }) => [table, rows]));
  return {
    tables: tables.map(({ name, rows }) => ({ table: name, rows_before: present.get(name) ?? 0, rows })),
    views_not_refreshed: onlyRows.materializedViews,
    ...(onlyRows.keys && { keys: onlyRows.keys.values }),
  };
}

export function onlyRowsWarnings({ onlyRows }: RestorePlan): LoadPlan['warnings'] {
  if (!onlyRows) return [];
  const { materializedViews: views, keeps } = onlyRows;
  const message = `Materialized views over the tables are not refreshed: ${boundedList(views, LISTED)}`;
  return [
    ...(views.length > 0 ? [{ code: 'views_not_refreshed', message }] : []),
    ...(keeps
      ? []
      : [{ code: 'undo_impossible', message: 'The role may not create databases: the replaced rows are not kept' }]),
  ];
}
