import { bytesOfTable, type ManifestTable } from '../../../repository/manifest/manifest.ts';
import type { BaseCopy } from '../../facets/copies.ts';
import type { DifferencePlan, RestoreRequest, TableWay } from '../../facets/restore.ts';
import type { EarlierTables } from './compare-tables.ts';
import { ownFiles } from './stored-pairs.ts';

/** A smaller table is loaded as fast as its rows are compared. */
const LEAST_BYTES = 256 * 1024;

export interface WaysFacts {
  base: BaseCopy;
  /** The tables that differ. */
  tables: ManifestTable[];
  /** Digests of the base copy's tables, by name. */
  before: Map<string, string>;
  /** `null` where this machine does not have the snapshot of the base copy. */
  earlier: EarlierTables | null;
  /** A reason of the engine's own, that needs no other snapshot. */
  whyWhole: (table: ManifestTable) => string | null;
  /** Reports whether it has a usable key; `null` where the definitions are not understood. */
  hasKey: (table: ManifestTable) => boolean | null;
}

/** Decides from the manifests and definitions which tables are loaded by the rows that differ. */
export function tableWays({ base, tables, before, earlier, whyWhole, hasKey }: WaysFacts): TableWay[] {
  const reasonOf = (table: ManifestTable): string | null => {
    const reason = isSmall(table) ? 'it is small' : whyWhole(table);
    if (reason !== null) return reason;
    if (!earlier) return `snapshot ${base.snapshot} is not on this machine`;
    if (!earlier.find(table, before.get(table.name))) {
      return `snapshot ${base.snapshot} is not the one that the base copy was made from`;
    }
    const keyed = hasKey(table);
    if (keyed === null) return 'the definitions of the snapshot are not understood';
    return keyed ? null : 'it has no primary or unique key that is NOT NULL';
  };
  return tables.map((table): TableWay => {
    const reason = reasonOf(table);
    if (reason !== null) return { table: table.name, way: 'whole', reason, bytes: bytesOfTable(table) };
    const digest = before.get(table.name) ?? '';
    const bytes = ownFiles(table, earlier?.find(table, digest) ?? null).reduce((sum, file) => sum + file.bytes, 0);
    return { table: table.name, way: 'rows', reason: 'it has a key', bytes, before: digest };
  });
}

export function isSmall(table: ManifestTable): boolean {
  return bytesOfTable(table) < LEAST_BYTES;
}

/** Returns why a load is not of the differences only, where neither the server nor the base copy's record is needed for that. */
export function whyFull(request: RestoreRequest, base: BaseCopy): string | null {
  if (request.full) return '--full was given';
  if (request.only) return 'only some tables are loaded';
  if (request.keepGoing) return '--keep-going restores every object';
  if (base.outdated !== null) return `the base copy cannot be used: ${base.outdated}`;
  if (base.partial) return 'the base copy lacks rows or objects of its snapshot';
  return null;
}

/** A save was made from the destination, whichever data that has. */
export function whyOtherData({ sanitized }: { sanitized: boolean }, { manifest }: Pick<RestoreRequest, 'manifest'>) {
  if (sanitized === manifest.sanitized || manifest.save !== undefined) return null;
  return manifest.sanitized ? 'the base copy has original data' : 'the base copy has sanitized data';
}

export function fullLoad(base: BaseCopy, reason: string): DifferencePlan {
  return { ...named(base), tables: null, ways: [], deleted: {}, files: null, reason };
}

export function allWhole(base: BaseCopy): DifferencePlan {
  return { ...fullLoad(base, 'all tables differ, and would be loaded whole'), savesNothing: true };
}

export function named({ name, snapshot, loadedAt }: BaseCopy): Pick<DifferencePlan, 'base' | 'snapshot' | 'loadedAt'> {
  return { base: name, snapshot, loadedAt };
}
