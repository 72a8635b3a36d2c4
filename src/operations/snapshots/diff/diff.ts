import { bytesOfTable, filesOfTable, type Manifest } from '../../../repository/manifest/manifest.ts';
import type { Migrations } from '../../../results/manifest/migration-results.ts';
import type { DiffResult, MigrationsChange, TableChange, TableSide } from '../../../results/review/diff-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { withStep } from '../../../runtime/events.ts';
import type { SnapshotSelector } from '../../../text/snapshot-selector.ts';
import { splitName } from '../../../text/table-names.ts';
import { chooseDestination, openDestination } from '../../load/destination.ts';
import { readLiveMigrations } from '../../migrations/read-migrations.ts';
import { withTargetUrls } from '../../targets/with-target-urls.ts';
import { findSnapshot } from '../snapshots.ts';

export interface DiffRequest {
  target: string;
  /** The older side, as a rule. */
  a: SnapshotSelector;
  /** Default: the destination as it is now. */
  b?: SnapshotSelector;
  original?: boolean;
}

/** A table in a comparison: by content rather than rows, but a live database has rows only. */
interface Side extends TableSide {
  sha256: string | null;
}

/** Compares a snapshot with another, from their manifests alone, or with the live destination, by rows. */
export async function diff(given: Context, { target, a, b, original = false }: DiffRequest): Promise<DiffResult> {
  const context = b === undefined ? await withTargetUrls(given, target, { source: false }) : given;
  const from = await findSnapshot(context, { target, snapshot: a, original });
  if (b === undefined) {
    const { url, tables, migrations } = await readDestination(context, target, from.manifest);
    const changed = compareMigrations(from.manifest.migrations, migrations);
    return {
      ...{ target, from: from.row, to: null, destination: url, ...compare(sidesOf(from.manifest), tables) },
      ...(changed.length > 0 && { migrations: changed }),
    };
  }
  const to = await findSnapshot(context, { target, snapshot: b, original });
  const migrations = compareMigrations(from.manifest.migrations, to.manifest.migrations);
  return {
    target,
    from: from.row,
    to: to.row,
    destination: null,
    ...compare(sidesOf(from.manifest), sidesOf(to.manifest)),
    ...(migrations.length > 0 && { migrations }),
  };
}

/** By table; of a table with very many, the last ones that manifests contain. */
function compareMigrations(from: Migrations[] = [], to: Migrations[] = []): MigrationsChange[] {
  const keyOf = ({ tool, table }: Migrations): string => `${tool} ${table}`;
  const tables = new Map([...from, ...to].map((each) => [keyOf(each), each]));
  return [...tables].flatMap(([key, { tool, table }]) => {
    const [before, after] = [from, to].map((side) => side.find((each) => keyOf(each) === key));
    if (before?.sha256 === after?.sha256) return [];
    return [{ tool, table, only_from: onlyIn(before, after), only_to: onlyIn(after, before) }];
  });
}

function onlyIn(one: Migrations | undefined, other: Migrations | undefined): string[] {
  const known = new Set(other?.versions);
  return one?.versions.filter((version) => !known.has(version)) ?? [];
}

function sidesOf({ tables }: Manifest): Map<string, Side> {
  return new Map(
    tables.map((table) => {
      const sha256 = filesOfTable(table)
        .map((file) => file.sha256)
        .join();
      return [table.name, { rows: table.rows, bytes: bytesOfTable(table), sha256 }];
    }),
  );
}

async function readDestination(
  context: Context,
  target: string,
  manifest: Manifest,
): Promise<{ url: string; tables: Map<string, Side>; migrations: Migrations[] }> {
  const { engine: engineId, schemas } = manifest;
  const database = openDestination(context, chooseDestination(context, { target }));
  const { url } = database;
  if (url.engine !== engineId) {
    throw new UserError('engine_differs', `A snapshot of ${engineId} cannot be compared with ${url.display}`, {
      hint: 'Compare it with another snapshot: tool diff TARGET A B',
    });
  }
  const label = `Count the rows of ${url.display}`;
  const counts = await withStep(context.report, { step: 'count', label, done: label }, () =>
    database.connect.countRows(manifest),
  );
  const inSnapshot = (name: string): boolean => schemas.includes(splitName(name).schema);
  const tables = [...counts].filter(([name]) => inSnapshot(name));
  const migrations = await readLiveMigrations(database, manifest);
  return {
    url: url.display,
    migrations: migrations.filter(({ table }) => inSnapshot(table)),
    tables: new Map(tables.map(([name, rows]) => [name, { rows, bytes: null, sha256: null }])),
  };
}

function compare(from: Map<string, Side>, to: Map<string, Side>): Pick<DiffResult, 'changes' | 'unchanged'> {
  const names = [...new Set([...from.keys(), ...to.keys()])].sort();
  const changes: TableChange[] = [];
  for (const table of names) {
    const [before, after] = [from.get(table), to.get(table)];
    if (before && after && isSame(before, after)) continue;
    const change = before ? (after ? 'changed' : 'gone') : 'added';
    changes.push({ table, change, from: shown(before), to: shown(after) });
  }
  return { changes, unchanged: names.length - changes.length };
}

function isSame(before: Side, after: Side): boolean {
  return after.sha256 === null ? before.rows === after.rows : before.sha256 === after.sha256;
}

function shown(side: Side | undefined): TableSide | null {
  return side ? { rows: side.rows, bytes: side.bytes } : null;
}
