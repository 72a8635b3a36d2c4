import type { Cell } from '../../presentation/shapes/column.ts';
import type { Fact } from '../../presentation/shapes/fact.ts';
import type { Glyphs, Tone } from '../../presentation/shapes/glyphs.ts';
import type { ConnectionFailure } from '../../results/configuration/connection-failures.ts';
import type { TargetRow, TargetStatus } from '../../results/results.ts';
import type { TargetEntry } from '../../state/targets.ts';

interface StatusMark {
  word: string;
  tone: Tone;
  glyph: 'good' | 'bad' | 'caution' | 'pending';
}

export const STATUSES: Record<TargetStatus, StatusMark> = {
  ok: { word: 'up', tone: 'good', glyph: 'good' },
  missing: { word: 'no database', tone: 'caution', glyph: 'caution' },
  denied: { word: 'access denied', tone: 'bad', glyph: 'bad' },
  unreachable: { word: 'unreachable', tone: 'bad', glyph: 'bad' },
  unchecked: { word: 'not checked', tone: 'dim', glyph: 'pending' },
};

const REASONS: Record<ConnectionFailure, string> = {
  database_missing: 'no such database',
  wrong_password: 'wrong password',
  password_missing: 'no password given',
  user_unknown: 'no such user',
  not_permitted: 'no right to connect',
  closed_database: 'database is closed',
  host_not_permitted: 'host not permitted',
  tls_required: 'TLS required',
  not_shared: 'not shared with you',
  denied: 'refused',
  too_many_connections: 'too many connections',
  host_unknown: 'host unknown',
  connection_refused: 'connection refused',
  timed_out: 'timed out after 5 s',
  tls_unavailable: 'TLS not offered',
  certificate_refused: 'certificate refused',
  server_starting: 'server is starting',
  unreachable: 'no answer',
};

/** `access denied: wrong password` */
function statusText({ status, error_code: code }: TargetRow): string {
  const { word } = STATUSES[status];
  const reason = status === 'missing' || code === null || !Object.hasOwn(REASONS, code) ? null : code;
  return reason === null ? word : `${word}: ${REASONS[reason as ConnectionFailure]}`;
}

/** A server slower than this is shown as slow. */
const SLOW_MS = 250;

/** Words for a target that is late, and the reason. An error of its database is more urgent. */
export function latenessOf({ late, restore_late, status }: TargetRow): { word: string; reason: string } | null {
  if (status !== 'ok' && status !== 'unchecked') return null;
  if (late) return { word: 'late', reason: 'its newest snapshot is older than the hub expects' };
  return restore_late
    ? { word: 'restore late', reason: 'its last proved restore is older than the hub expects' }
    : null;
}

export function statusCell({ row, checking, checkedAt }: TargetEntry, glyphs: Glyphs, text = statusText): Cell {
  // Its snapshots matter more than its database, to which a list does not connect.
  const late = latenessOf(row);
  if (late) return { text: `${glyphs.caution} ${late.word}`, tone: 'caution' };
  if (checking && checkedAt === null) return { text: `${glyphs.pending} checking`, tone: 'dim' };
  const { tone, glyph } = STATUSES[row.status];
  const slow = row.status === 'ok' && (row.latency_ms ?? 0) > SLOW_MS;
  // Every row reserves a cell for the mark of a running check, so that columns do not move.
  const words = `${glyphs[glyph]} ${slow ? 'slow' : text(row)}${checking ? glyphs.ellipsis : ' '}`;
  return { text: words, tone: slow ? 'caution' : tone };
}

export function statusFact({ row, checkedAt, checking }: TargetEntry): Pick<Fact, 'value' | 'tone'> {
  const late = latenessOf(row);
  if (late) return { value: `${late.word}: ${late.reason}`, tone: 'caution' };
  if (checkedAt === null) return { value: checking ? 'checking…' : STATUSES.unchecked.word, tone: 'dim' };
  const { word, tone } = STATUSES[row.status];
  const reason = row.error ? `: ${row.error}` : '';
  const latency = row.status === 'ok' && row.latency_ms !== null ? `, ${Math.round(row.latency_ms)} ms` : '';
  return { value: `${word} at ${clockTime(checkedAt)}${latency}${reason}`, tone };
}

export function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 5);
}
