import type { Fact } from '../../components/facts.tsx';
import { formatBytes, formatNumberOf } from '../../src/amounts.ts';
import type { TargetEntry } from '../../src/state/targets.ts';
import { ENGINE_NAMES } from '../engine-names.ts';
import { STATUS_LOOKS } from './columns.ts';

/** What is known of a target, for the pane beside or below the list. */
export function targetFacts(entry: TargetEntry): Fact[] {
  const { row } = entry;
  const engine = row.engine
    ? `${ENGINE_NAMES[row.engine]}${row.server_version ? ` ${row.server_version}` : ''}`
    : 'unknown';
  const size = row.size_bytes === null ? '' : `, ${formatBytes(row.size_bytes)}`;
  return [
    { name: 'Status', ...statusFact(entry) },
    { name: 'Source', value: row.src_url ?? 'none' },
    { name: 'Server', value: engine + size },
    { name: 'Loads into', value: row.dst_url ?? 'no destination is configured' },
    { name: 'Snapshots', value: row.snapshots === 0 ? 'none yet: b builds the first' : snapshotsLine(entry) },
  ];
}

function snapshotsLine({ row }: TargetEntry): string {
  const count = formatNumberOf(row.snapshots, 'snapshot');
  return row.storage_profile ? `${count}, stored in ${row.storage_profile}` : `${count}, on this machine`;
}

function statusFact({ row, since, checkedAt, checking }: TargetEntry): Pick<Fact, 'value' | 'tone'> {
  if (checkedAt === null) return { value: checking ? 'checking…' : 'not checked', tone: 'dim' };
  const { word, tone } = STATUS_LOOKS[row.status];
  const reason = row.error ? `: ${row.error}` : '';
  const latency = row.status === 'ok' && row.latency_ms !== null ? `, ${Math.round(row.latency_ms)} ms` : '';
  return { value: `${word} ${sinceWords(since, checkedAt)}${latency}${reason}`, tone };
}

function sinceWords(since: number | null, checkedAt: number): string {
  return since === null ? `when last seen at ${clockTime(checkedAt)}` : `since ${clockTime(since)}`;
}

function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 5);
}
