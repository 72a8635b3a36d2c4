import type { Manifest } from '../../repository/manifest.ts';
import { UserError } from '../../runtime/errors.ts';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { includesMigration } from '../migrations/includes-migration.ts';
import type { LocatedSnapshot } from './located-snapshots.ts';

/** Snapshots by what was recorded when they were built. */
export interface SnapshotFilter {
  /** Built on this git branch. */
  branch?: string | undefined;
  /** With this migration applied. */
  migration?: string | undefined;
  tag?: string | undefined;
}

export function isFilter({ branch, migration, tag }: SnapshotFilter): boolean {
  return branch !== undefined || migration !== undefined || tag !== undefined;
}

const READS_AT_ONCE = 16;

/** Creates a predicate for snapshots. Manifests are read once for each content of a migrations table. */
export async function createFilter(
  placed: LocatedSnapshot[],
  { branch, migration, tag }: SnapshotFilter,
  read: (snapshot: LocatedSnapshot) => Promise<Manifest | null | undefined>,
): Promise<(snapshot: LocatedSnapshot) => boolean> {
  const isRecorded = ({ headline: { git, tags = [] } }: LocatedSnapshot): boolean =>
    (branch === undefined || git?.branch === branch) && (tag === undefined || tags.includes(tag));
  if (migration === undefined) return isRecorded;
  const distinct = new Map(placed.filter(isRecorded).map((snapshot) => [digestOf(snapshot), snapshot]));
  const including = new Set<string>();
  await mapWithConcurrency([...distinct], READS_AT_ONCE, async ([digest, snapshot]) => {
    if (digest === '') return;
    const { migrations = [] } = (await read(snapshot)) ?? {};
    if (migrations.some((table) => includesMigration(table, migration))) including.add(digest);
  });
  return (snapshot) => isRecorded(snapshot) && including.has(digestOf(snapshot));
}

function digestOf({ headline: { migrations = [] } }: LocatedSnapshot): string {
  return migrations.map(({ tool, table, sha256 }) => `${tool} ${table} ${sha256}`).join('\n');
}

const MOST_NAMED = 10;

/** The error names what there is. */
export function noMatch(
  target: string,
  { branch, migration, tag }: SnapshotFilter,
  placed: LocatedSnapshot[],
): UserError {
  const conditions = [
    ...(branch === undefined ? [] : [`of git branch "${branch}"`]),
    ...(migration === undefined ? [] : [`with migration "${migration}"`]),
    ...(tag === undefined ? [] : [`with tag "${tag}"`]),
  ];
  const branches = placed.flatMap(({ headline: { git } }) => git?.branch ?? []);
  const newest = placed.flatMap(({ headline: { migrations = [] } }) => migrations.map((each) => each.newest));
  const tags = placed.flatMap(({ headline }) => headline.tags ?? []);
  return new UserError('snapshot_missing', `Target "${target}" has no snapshot ${conditions.join(' ')}`, {
    details: [
      ...(branch === undefined ? [] : [`Git branches of its snapshots: ${namesOf(branches)}`]),
      ...(migration === undefined ? [] : [`Newest migrations of its snapshots: ${namesOf(newest)}`]),
      ...(tag === undefined ? [] : [`Tags of its snapshots: ${namesOf(tags)}`]),
    ],
    hint: `List the snapshots: tool target ${target}`,
  });
}

function namesOf(names: string[]): string {
  const distinct = [...new Set(names)];
  const more = distinct.length - MOST_NAMED;
  return `${distinct.slice(0, MOST_NAMED).join(', ') || 'none recorded'}${more > 0 ? ` and ${more} more` : ''}`;
}

export function filterWithSnapshot(): UserError {
  return new UserError('usage', '--branch, --migration and --tag choose a snapshot, and one was named', {
    hint: 'Leave out the index or id, or these options.',
  });
}
