import type { Headline } from '../../repository/headlines/headline.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { Migrations } from '../../results/manifest/migration-results.ts';
import { UserError } from '../../runtime/errors.ts';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { boundedList } from '../../text/bounded-list.ts';
import { shell } from '../../text/shell-word.ts';
import type { SnapshotFilter } from '../../text/snapshot-selector.ts';
import { MIGRATION_TOOLS } from '../migrations/migration-tools.ts';
import type { LocatedSnapshot } from './located-snapshots.ts';

const READS_AT_ONCE = 16;

/** Creates a predicate for snapshots. Manifests are read once for each content of a migrations table. */
export async function createFilter(
  placed: LocatedSnapshot[],
  { by, value }: SnapshotFilter,
  read: (snapshot: LocatedSnapshot) => Promise<Manifest | null | undefined>,
): Promise<(snapshot: LocatedSnapshot) => boolean> {
  if (by === 'branch') return ({ headline: { git } }) => git?.branch === value;
  if (by === 'tag') return ({ headline: { tags = [] } }) => tags.includes(value);
  const distinct = new Map(placed.map((snapshot) => [digestOf(snapshot), snapshot]));
  const including = new Set<string>();
  await mapWithConcurrency([...distinct], READS_AT_ONCE, async ([digest, snapshot]) => {
    if (digest === '') return;
    const { migrations = [] } = (await read(snapshot)) ?? {};
    if (migrations.some((table) => includesMigration(table, value))) including.add(digest);
  });
  return (snapshot) => including.has(digestOf(snapshot));
}

function digestOf({ headline: { migrations = [] } }: LocatedSnapshot): string {
  return migrations.map(({ tool, table, sha256 }) => `${tool} ${table} ${sha256}`).join('\n');
}

const MOST_NAMED = 10;

const RECORDED: Record<SnapshotFilter['by'], { condition: string; list: string; of: (row: Headline) => string[] }> = {
  branch: { condition: 'of git branch', list: 'Git branches', of: ({ git }) => (git?.branch ? [git.branch] : []) },
  tag: { condition: 'with tag', list: 'Tags', of: ({ tags = [] }) => tags },
  migration: {
    condition: 'with migration',
    list: 'Newest migrations',
    of: ({ migrations = [] }) => migrations.flatMap(({ newest }) => newest ?? []),
  },
};

/** The error names what there is. */
export function noMatch(target: string, { by, value }: SnapshotFilter, placed: LocatedSnapshot[]): UserError {
  const { condition, list, of } = RECORDED[by];
  return new UserError('snapshot_missing', `Target "${target}" has no snapshot ${condition} "${value}"`, {
    details: [`${list} of its snapshots: ${namesOf(placed.flatMap(({ headline }) => of(headline)))}`],
    hint: `List the snapshots: ${shell`tool target ${target}`}`,
  });
}

function namesOf(names: string[]): string {
  const distinct = [...new Set(names)];
  return boundedList(distinct, MOST_NAMED) || 'none recorded';
}

/** Reports whether a migration is among the recorded ones, by its version or another name of it. */
function includesMigration({ tool, versions }: Migrations, migration: string): boolean {
  const { aliases, newestOnly } = MIGRATION_TOOLS.find((each) => each.tool === tool) ?? {};
  if (versions.some((version) => version === migration || aliases?.(version).includes(migration))) return true;
  return newestOnly === true && /^\d+$/.test(migration) && versions.some((version) => isAtMost(migration, version));
}

function isAtMost(migration: string, version: string): boolean {
  return /^\d+$/.test(version) && BigInt(migration) <= BigInt(version);
}
