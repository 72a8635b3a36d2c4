import type { Fact } from '../../presentation/shapes/fact.ts';
import type { BranchTotals, DatabaseCopies, DatabaseCopy, DestinationCopies } from '../../results/database-copies.ts';
import { formatAge, formatBytes, formatCount, formatTime } from '../../text/format.ts';
import { sumOf } from './copies-result.ts';

/** Copies of an earlier load in the plan of an operation that replaces the destination. */
export function copiesFacts({ base, spare }: DatabaseCopies, becomes: (copy: DatabaseCopy) => string): Fact[] {
  return [
    ...(base ? [{ name: 'Base copy', value: `${copyText(base)}; ${becomes(base)}` }] : []),
    ...(spare ? [{ name: 'Spare', value: `${copyText(spare)}; ${becomes(spare)}` }] : []),
  ];
}

/** `app_dev.tool-base, 812 MB, of snapshot 1a2b3c4d`, or why it cannot be used. */
export function copyDetail(copy: DatabaseCopy): string {
  const state = copy.outdated === null ? '' : `; cannot be used: ${copy.outdated}`;
  return `${copyText(copy)}, of snapshot ${snapshotText(copy)}${state}`;
}

/** Returns the copy as a fact; short, its size and whether it can be used. */
export function copyFact(copy: DatabaseCopy): Omit<Fact, 'name'> {
  const { size_bytes, outdated, snapshot } = copy;
  const size = size_bytes === null ? [] : [formatBytes(size_bytes)];
  const state = outdated === null ? `of ${snapshot ?? 'unknown'}` : 'cannot be used';
  return { value: copyDetail(copy), short: [...size, state].join(', ') };
}

/** `2 branches, 340 MB`, or at most so much where they share blocks with the base copy. */
export function branchesDetail({ count, size_bytes, own_bytes }: BranchTotals): string {
  const branches = `${formatCount(count)} ${count === 1 ? 'branch' : 'branches'}`;
  if (own_bytes !== null) return `${branches}, ${formatBytes(own_bytes)}`;
  return size_bytes === null ? branches : `${branches}, at most ${formatBytes(size_bytes)}`;
}

export function copiesLines({ base, spare, branches }: DestinationCopies): string[] {
  return [
    ...(base ? [`base copy ${copyDetail(base)}`] : []),
    ...(spare ? [`spare ${copyDetail(spare)}`] : []),
    ...(branches ? [branchesDetail(branches)] : []),
  ];
}

/** Returns the bytes that they take on the disks of their servers, at most; `null` where a size is unknown. */
export function copiesBytes(copies: DestinationCopies[]): number | null {
  const sizes = copies.flatMap(({ base, spare, branches }) => [
    ...[base, spare].flatMap((copy) => (copy ? [copy.size_bytes] : [])),
    ...(branches ? [branches.own_bytes ?? branches.size_bytes] : []),
  ]);
  return sumOf(sizes);
}

export function copyText({ database, size_bytes }: DatabaseCopy): string {
  return size_bytes === null ? database : `${database}, ${formatBytes(size_bytes)}`;
}

export function snapshotText({ snapshot, partial }: DatabaseCopy): string {
  return `${snapshot ?? 'unknown'}${partial ? ', of which the load lacked rows or objects' : ''}`;
}

export function loadedText({ loaded_at }: DatabaseCopy, now: Date): string {
  const at = Date.parse(loaded_at);
  return Number.isNaN(at) ? 'at an unknown time' : `${formatAge(now.getTime() - at)} (${formatTime(loaded_at)})`;
}
