import type { RestorePlan } from '../../../engines/facets/restore.ts';
import type { Database } from '../../../engines/open-database.ts';
import type { Manifest, ManifestFile } from '../../../repository/manifest/manifest.ts';
import { createObjectPool } from '../../../repository/objects/object-pool.ts';
import { selectTables } from '../../../repository/select-tables.ts';
import type { TableSelection } from '../../../results/selected-tables.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { localRepository } from '../../snapshots/local-repository.ts';
import { snapshotReader } from '../../snapshots/snapshot-reader.ts';
import type { FoundSnapshot } from '../../snapshots/snapshots.ts';
import { pullFiles } from '../../snapshots/transfer/pull.ts';

export interface TableChoiceOptions {
  found: FoundSnapshot;
  database: Database;
  /** Tables as they were requested. */
  wanted: string[];
  /** Without the tables that the requested ones reference. */
  only?: boolean | undefined;
}

/** The tables that were asked for and what they need, by the definitions in the snapshot, which are fetched if need be. */
export async function chooseTables(
  context: Context,
  { found, database, wanted, only = false }: TableChoiceOptions,
): Promise<TableSelection> {
  const { manifest } = found;
  await using definitions = await openDefinitions(context, found);
  const needs = await database.restore.readNeeds({ manifest, read: definitions.read });
  const tables = manifest.tables.map(({ name }) => name);
  if (!only) return selectTables({ wanted, tables, needs });
  return { ...selectTables({ wanted, tables, needs: needs.filter(({ why }) => why === 'part') }), empty: [] };
}

export interface OpenDefinitions extends AsyncDisposable {
  /** An empty folder. */
  directory: string;
  read: (file: ManifestFile) => AsyncGenerator<Uint8Array<ArrayBuffer>>;
}

/** The small files of a snapshot, which are pulled without a step: a plan need not tell of some kilobytes. */
export async function openDefinitions(
  context: Context,
  { manifest, local, remote }: FoundSnapshot,
): Promise<OpenDefinitions> {
  const repository = localRepository(context);
  const staging = await repository.stage();
  const pool = createObjectPool(1);
  const stored = snapshotReader({ manifest, repository, pool, signal: context.signal });
  const quiet = { ...context, report: () => {} };
  return {
    directory: await staging.folder('definitions'),
    async *read(file) {
      if (!local && remote) await pullFiles(quiet, { manifest, remote, files: [file], keep: false });
      yield* stored(file);
    },
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]();
      await staging[Symbol.asyncDispose]();
    },
  };
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
