import type { Fact } from '../../components/facts.tsx';
import type { TargetEntry } from '../../src/state/targets.ts';
import { formatAge, formatBytes, formatCount, formatTime } from '../../src/text/format.ts';
import { ENGINE_NAMES } from '../app/engine-names.ts';
import { STATUS_LOOKS } from './columns.ts';

export function targetFacts(entry: TargetEntry, now: number): Fact[] {
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
    { name: 'Snapshots', value: row.snapshots === 0 ? 'none yet: b builds the first' : snapshotsLine(entry, now) },
  ];
}

function snapshotsLine({ row }: TargetEntry, now: number): string {
  const { snapshots, last_snapshot_at: last, storage_profile: profile } = row;
  const latest = last === null ? null : `the latest taken ${formatAge(now - Date.parse(last))} (${formatTime(last)})`;
  const also = profile === null ? null : `storage profile ${profile}`;
  return [`${formatCount(snapshots)} on this machine`, latest, also].filter(Boolean).join(', ');
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
