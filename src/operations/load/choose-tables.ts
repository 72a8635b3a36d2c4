import type { RestorePlan } from '../../engines/facets/restore.ts';
import type { Database } from '../../engines/open-database.ts';
import type { Manifest, ManifestFile } from '../../repository/manifest/manifest.ts';
import { createObjectPool } from '../../repository/objects/object-pool.ts';
import { selectTables } from '../../repository/select-tables.ts';
import type { TableSelection } from '../../results/selected-tables.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { snapshotReader } from '../snapshots/snapshot-reader.ts';
import type { FoundSnapshot } from '../snapshots/snapshots.ts';
import { pullFiles } from '../snapshots/transfer/pull.ts';

export interface TableChoiceOptions {
  found: FoundSnapshot;
  database: Database;
  /** Tables as they were requested. */
  wanted: string[];
}

/** The tables that were asked for and what they need, by the definitions in the snapshot, which are fetched if need be. */
export async function chooseTables(
  context: Context,
  { found: { manifest, local, remote }, database, wanted }: TableChoiceOptions,
): Promise<TableSelection> {
  const repository = localRepository(context);
  await using staging = await repository.stage();
  const pool = createObjectPool(1);
  await using _closing = { [Symbol.asyncDispose]: () => pool.close() };
  const stored = snapshotReader({ manifest, repository, pool, signal: context.signal });
  // A few kilobytes, of which a plan need not tell.
  const quiet = { ...context, report: () => {} };
  async function* read(file: ManifestFile): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    if (!local && remote) await pullFiles(quiet, { manifest, remote, files: [file], keep: false });
    yield* stored(file);
  }
  const directory = await staging.folder('definitions');
  const needs = await database.restore.readNeeds({ manifest, directory, read });
  return selectTables({ wanted, tables: manifest.tables.map(({ name }) => name), needs });
}

/** The names of all tables whose rows are loaded. */
export function namesOf({ chosen, needed }: TableSelection): Set<string> {
  return new Set([...chosen, ...needed.map(({ table }) => table)]);
}

/** The selection without what lies in schemas that are not loaded; refuses one that was asked for there. */
export function withinPlan(
  selection: TableSelection,
  { tables, empty }: RestorePlan,
  manifest: Manifest,
): TableSelection {
  const planned = new Set([...tables, ...empty].map(({ name }) => name));
  const outside = new Set(manifest.tables.map(({ name }) => name).filter((name) => !planned.has(name)));
  const refused = selection.chosen.filter((name) => outside.has(name));
  if (refused.length > 0) {
    throw new UserError('table_not_loaded', `The schema of ${refused.join(', ')} is not loaded`, {
      hint: "The target's schema_config leaves it out.",
    });
  }
  return {
    chosen: selection.chosen,
    needed: selection.needed.filter(({ table }) => !outside.has(table)),
    empty: empty.map(({ name }) => name),
  };
}
