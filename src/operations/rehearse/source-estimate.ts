import { bytesOfTable, type Manifest } from '../../repository/manifest/manifest.ts';
import type { RehearsalResult } from '../../results/review/rehearsal-results.ts';
import type { Context } from '../../runtime/context.ts';
import { splitName } from '../../text/table-names.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { DIALECTS } from './rules/dialects.ts';

type MeasuredRehearsal = Pick<RehearsalResult, 'target' | 'snapshot' | 'statements' | 'locks' | 'duration_ms'>;
export type SourceEstimate = NonNullable<RehearsalResult['source_estimate']>;

/** Below, the estimate says nothing that the measurement does not. */
const LEAST_RATIO = 1.05;

/**
 * Estimates the durations on the source, where the branch is smaller: each in proportion to the bytes of the tables that
 * its statement locks, else of all tables, in the newest original snapshot of the target.
 */
export async function estimateOnSource(context: Context, measured: MeasuredRehearsal): Promise<SourceEstimate | null> {
  const snapshots = await localRepository(context).list(measured.target);
  const branch = snapshots.find(({ id }) => id === measured.snapshot);
  const source = snapshots.find(({ sanitized }) => !sanitized);
  return branch && source ? estimateBySizes(measured, { branch, source }) : null;
}

type SnapshotSizes = Pick<Manifest, 'id' | 'engine' | 'tables'>;

export function estimateBySizes(
  { statements, locks, duration_ms }: MeasuredRehearsal,
  { branch, source }: { branch: SnapshotSizes; source: SnapshotSizes },
): SourceEstimate | null {
  const ratio = ratioOf(totalBytes(source), totalBytes(branch));
  if (ratio < LEAST_RATIO) return null;
  const [before, after] = [bytesByTable(branch), bytesByTable(source)];
  const ratioOfTable = (table: string): number => {
    const [small, large] = [before.get(table), after.get(table)];
    return small === undefined || large === undefined ? ratio : ratioOf(large, small);
  };
  const added = statements.map(({ text, duration_ms: took }) => {
    const tables = locks.filter(({ statement }) => statement === text).map(({ table }) => ratioOfTable(table));
    return took * ((tables.length > 0 ? Math.max(...tables) : ratio) - 1);
  });
  const held = locks
    .filter(({ blocks }) => blocks !== 'none')
    .map(({ table, held_ms }) => held_ms * ratioOfTable(table));
  return {
    ...{ snapshot: source.id, ratio: Math.round(ratio * 10) / 10 },
    duration_ms: Math.round(added.reduce((sum, ms) => sum + ms, duration_ms)),
    longest_lock_ms: Math.round(Math.max(0, ...held)),
  };
}

/** At least 1: a smaller table makes no statement faster than it was measured. */
function ratioOf(large: number, small: number): number {
  return Math.max(1, large / Math.max(1, small));
}

function totalBytes({ tables }: SnapshotSizes): number {
  return tables.reduce((sum, table) => sum + bytesOfTable(table), 0);
}

/** By the names of a report, which has no databases of MySQL. */
function bytesByTable({ engine, tables }: SnapshotSizes): Map<string, number> {
  const { isSchemaDatabase } = DIALECTS[engine];
  return new Map(
    tables.map((table) => [isSchemaDatabase ? splitName(table.name).rest : table.name, bytesOfTable(table)]),
  );
}
