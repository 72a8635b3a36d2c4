import type { Fact } from '../../components/facts.tsx';
import type { DestinationState, SnapshotRow } from '../../src/results/results.ts';
import { formatAge, formatBytes, formatNumberOf, formatTime } from '../../src/text/format.ts';

export interface Question {
  facts: Fact[];
  steps: string[];
  warnings: string[];
  /** What happens, and whether it can be undone. */
  consequence: string;
  safe: string;
  go: string;
  /** The name to type; `null` where choosing is enough. */
  typeName: string | null;
}

export function destinationFacts({ url, exists, size_bytes, connections, server_version }: DestinationState): Fact[] {
  const size = size_bytes === null ? 'size unknown' : formatBytes(size_bytes);
  const sessions =
    connections === 0 ? 'nobody is connected' : `${formatNumberOf(connections, 'session')} will be ended`;
  return [
    { name: 'Destination', value: url, tone: 'strong' },
    { name: 'Now there', value: exists ? `${size}, ${sessions}` : 'nothing' },
    { name: 'Server', value: server_version },
  ];
}

/** Databases on other machines, and those that may be a source, are confirmed by name. */
export function nameToType(
  { local, database }: DestinationState,
  { unverified_sources }: { unverified_sources: string[] },
): string | null {
  return local && unverified_sources.length === 0 ? null : database;
}

export function unverifiedWarnings({ unverified_sources }: { unverified_sources: string[] }): string[] {
  if (unverified_sources.length === 0) return [];
  return [`Sources that could not be identified, and may be this database: ${unverified_sources.join(', ')}`];
}

export function snapshotLine({ index, created_at, sanitized }: SnapshotRow, now: Date): string {
  const age = formatAge(now.getTime() - Date.parse(created_at));
  return `${index}, taken ${age} (${formatTime(created_at)})${sanitized ? ', sanitized' : ''}`;
}

export function contentsLine({
  tables,
  rows,
  size_bytes,
}: {
  tables: number;
  rows: number;
  size_bytes: number;
}): string {
  return `${formatNumberOf(tables, 'table')}, ${formatNumberOf(rows, 'row')}, ${formatBytes(size_bytes)}`;
}
