import type { TargetInfo, TargetRow } from '../results/results.ts';
import { formatBytes, formatNumberOf } from '../text/format.ts';

/** All that is known of a target, a line a fact; what is not set is left out. */
export function targetInfoText(row: TargetRow & { info: TargetInfo }): string {
  const { info } = row;
  const facts: [label: string, fact: string | null][] = [
    ['title', row.title === row.name ? null : row.title],
    ['type', row.type],
    ['engine', [row.engine, row.server_version].filter(Boolean).join(' ') || null],
    ['status', [row.status, row.error].filter(Boolean).join(': ')],
    ['size', row.size_bytes === null ? null : formatBytes(row.size_bytes)],
    ['snapshots', snapshotsText(row)],
    ['source', info.source],
    ['destination', withOrigin(info.destination, info.destination_set_by)],
    ['schemas', info.schema_config === null ? null : JSON.stringify(info.schema_config)],
    ['storage', info.storage_profile],
    ['sanitized by', info.sanitize_query ?? 'nothing: no query is configured'],
    ['sanitized in', info.sanitize_destination],
    ['sanitized to', info.sanitize_storage_profile],
    ['subset of', info.subset_source],
    ['subset in', info.subset_destination],
    ['subset tables', listed(info.subset_tables)],
    ['shared from', info.shared_storage_profile],
    ['SSO groups', listed(info.sso_groups)],
    ['destination of', listed(info.allow_destination_of)],
    ['workers', String(info.cpus)],
  ];
  return [
    row.name,
    ...facts.flatMap(([label, fact]) => (fact === null ? [] : [`  ${label.padEnd(LABEL_CELLS)}  ${fact}`])),
  ].join('\n');
}

const LABEL_CELLS = 14;

function snapshotsText({ snapshots, last_snapshot_at }: TargetRow): string {
  const latest = last_snapshot_at === null ? '' : `, the newest of ${last_snapshot_at.replace(/\.\d+Z$/, 'Z')}`;
  return `${formatNumberOf(snapshots, 'snapshot')} on this machine${latest}`;
}

function withOrigin(fact: string | null, setting: string | null): string | null {
  return fact !== null && setting !== null ? `${fact} (${setting})` : fact;
}

function listed(names: string[]): string | null {
  return names.length === 0 ? null : names.join(', ');
}
