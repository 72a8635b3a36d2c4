import { filesOfTable, type ManifestFile, type ManifestTable } from '../../../repository/manifest/manifest.ts';
import type { RowChunks, RowsPair } from './compare-rows.ts';

export interface StoredSide {
  /** `null`: there are no rows. */
  table: ManifestTable | null;
  /** The rows of a file, without its terminator. */
  rows: (file: ManifestFile) => RowChunks;
}

/** The files of a table that the other side has not, as often. */
export function ownFiles(table: ManifestTable | null, other: ManifestTable | null): ManifestFile[] {
  const counts = new Map<string, number>();
  for (const { sha256 } of other ? filesOfTable(other) : []) counts.set(sha256, (counts.get(sha256) ?? 0) + 1);
  return (table ? filesOfTable(table) : []).filter(({ sha256 }) => {
    const left = counts.get(sha256) ?? 0;
    counts.set(sha256, left - 1);
    return left <= 0;
  });
}

/** Ranges at the same place have mostly the same rows. */
export function* pairsOf(before: StoredSide, after: StoredSide): Generator<RowsPair> {
  const [old, now] = [own(before, after), own(after, before)];
  const count = Math.max(...[before, after].map(({ table }) => (table ? filesOfTable(table).length : 0)));
  for (let at = 0; at < count; at += 1) {
    if (old.has(at) || now.has(at)) yield { before: old.get(at)?.() ?? null, after: now.get(at)?.() ?? null };
  }
}

/** By their places. */
function own({ table, rows }: StoredSide, other: StoredSide): Map<number, () => RowChunks> {
  const files = table ? filesOfTable(table) : [];
  return new Map(ownFiles(table, other.table).map((file) => [files.indexOf(file), () => rows(file)]));
}
