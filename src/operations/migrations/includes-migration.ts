import type { Migrations } from '../../results/manifest/migration-results.ts';
import { MIGRATION_TOOLS } from './migration-tools.ts';

/** Reports whether a migration is among the recorded ones, by its version or another name of it. */
export function includesMigration({ tool, versions }: Migrations, migration: string): boolean {
  const { aliases, newestOnly } = MIGRATION_TOOLS.find((each) => each.tool === tool) ?? {};
  if (versions.some((version) => version === migration || aliases?.(version).includes(migration))) return true;
  return newestOnly === true && /^\d+$/.test(migration) && versions.some((version) => isAtMost(migration, version));
}

function isAtMost(migration: string, version: string): boolean {
  return /^\d+$/.test(version) && BigInt(migration) <= BigInt(version);
}
