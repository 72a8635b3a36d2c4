import type { AllCopies, BaseCopies, BaseCopy } from '../../engines/facets/copies.ts';
import type { DatabaseCopies, DatabaseCopy, DestinationCopies } from '../../results/database-copies.ts';

/** Returns the copies in the form of the JSON output; `null` where there are none. */
export function toDatabaseCopies({ base, spare }: BaseCopies): DatabaseCopies | null {
  return base || spare ? { base: base && toDatabaseCopy(base), spare: spare && toDatabaseCopy(spare) } : null;
}

/** Returns the copies in the form of the JSON output; `null` where there are none. */
export function toDestinationCopies({ branches, ...copies }: AllCopies): DestinationCopies | null {
  const separate = branches.filter(({ current }) => !current);
  const found = toDatabaseCopies(copies);
  if (!found && separate.length === 0) return null;
  const totals = {
    count: separate.length,
    size_bytes: sumOf(separate.map(({ sizeBytes }) => sizeBytes)),
    own_bytes: sumOf(separate.map(({ ownBytes }) => ownBytes)),
  };
  return { base: null, spare: null, ...found, branches: separate.length === 0 ? null : totals };
}

/** The sum; `null` where one is unknown. */
export function sumOf(sizes: (number | null)[]): number | null {
  return sizes.includes(null) ? null : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

export function toDatabaseCopy({ name, snapshot, loadedAt, partial, sizeBytes, outdated }: BaseCopy): DatabaseCopy {
  return { database: name, snapshot, loaded_at: loadedAt, partial, size_bytes: sizeBytes, outdated };
}
