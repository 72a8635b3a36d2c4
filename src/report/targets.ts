import type { Mode } from '../config/mode.ts';
import { briefReason } from '../results/connection-failures.ts';
import type { TargetRow, TargetStatus } from '../results/results.ts';
import { formatBytes } from '../text/format.ts';
import { printable } from '../text/printable.ts';
import type { Tone } from './style.ts';
import { type Column, formatTable, type TableOptions } from './table.ts';

export interface TargetsView extends TableOptions {
  /** The configuration file, to say where targets belong. */
  file: string | null;
  mode: Mode;
}

/** The targets as a table, and below it why some of them do not answer. */
export function targetsText(targets: TargetRow[], view: TargetsView): string {
  const mode = view.style.paint('dim', `${MODES[view.mode]}, from ${view.file ?? 'the variables'}`);
  if (targets.length === 0) {
    return `No targets yet. Add one under "targets" in ${view.file ?? 'tool.yml'}; tool.example.yml shows how.\n${mode}`;
  }
  const table = formatTable(targetColumns(targets, view.style.marks.none), targets, view);
  const errors = targets.flatMap(({ name, error }) =>
    error ? [`${view.style.paint('bad', name)}: ${printable(error)}`] : [],
  );
  return [table, ...(errors.length > 0 ? ['', ...errors] : []), '', mode].join('\n');
}

const MODES: Record<Mode, string> = {
  local: 'Local mode (no authtoken)',
  cloud: 'Cloud mode',
};

const STATUS_TONES: Record<TargetStatus, Tone> = {
  ok: 'good',
  missing: 'caution',
  denied: 'bad',
  unreachable: 'bad',
  unchecked: 'dim',
};

function targetColumns(targets: TargetRow[], none: string): Column<TargetRow>[] {
  const titled = targets.some(({ name, title }) => title !== name);
  return [
    { title: 'NAME', cell: ({ name }) => name },
    ...(titled ? [{ title: 'TITLE', cell: ({ title }: TargetRow) => title }] : []),
    { title: 'TYPE', cell: ({ type }) => type },
    {
      title: 'ENGINE',
      cell: ({ engine, server_version }) => [engine ?? none, server_version].filter(Boolean).join(' '),
    },
    { title: 'STATUS', cell: statusText, tone: ({ status }) => STATUS_TONES[status] },
    { title: 'SIZE', cell: ({ size_bytes }) => (size_bytes === null ? none : formatBytes(size_bytes)), align: 'right' },
    { title: 'SNAPSHOTS', cell: ({ snapshots }) => String(snapshots), align: 'right' },
    { title: 'STORAGE', cell: ({ storage_profile }) => storage_profile ?? none },
    { title: 'SOURCE', cell: ({ src_url }) => src_url ?? none },
    { title: 'DESTINATION', cell: ({ dst_url }) => dst_url ?? none },
  ];
}

function statusText({ status, latency_ms, error_code }: TargetRow): string {
  const reason = briefReason(error_code);
  if (reason !== null) return `${status}: ${reason}`;
  return status === 'ok' && latency_ms !== null ? `ok ${Math.round(latency_ms)} ms` : status;
}
