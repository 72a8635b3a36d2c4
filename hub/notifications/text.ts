import { formatAge, formatNumberOf } from '../../src/text/format.ts';
import { printable } from '../../src/text/printable.ts';
import type { Notice } from '../database/builds/builds.ts';

interface About {
  /** Public address of the hub. */
  hub: string | null;
  now: Date;
}

/** The body of a notification: fields for programs, and a text as Slack, Mattermost and Discord read it. */
export function notificationBody(notice: Notice, { hub, now }: About): object {
  const { target_id: _, ...fields } = notice;
  return { text: textOf(notice, now), ...fields, hub, at: now.toISOString() };
}

const UNITS: Record<string, string> = { h: 'hour', d: 'day', w: 'week' };

/** `24h` → `24 hours` */
export function intervalText(every: string): string {
  return formatNumberOf(Number.parseInt(every, 10), UNITS[every.slice(-1)] ?? '');
}

function textOf(notice: Notice, now: Date): string {
  const target = escaped(notice.target);
  if (notice.event === 'build.failed') {
    const agent = notice.agent === null ? '' : ` by ${escaped(notice.agent)}`;
    return `Build of target "${target}"${agent} failed: ${escaped(notice.message)} (${escaped(notice.code)})`;
  }
  const [every, last, none, some] =
    notice.event === 'target.late'
      ? [notice.expected_every, notice.newest_snapshot_at, 'it has no snapshot', 'its newest snapshot is']
      : [
          notice.restore_expected_every,
          notice.last_restored_at,
          'no restore was proved',
          'its last proved restore was',
        ];
  const age = last === null ? none : `${some} ${formatAge(now.getTime() - Date.parse(last))}`;
  return `Target "${target}" is late: ${age}, and one is expected every ${intervalText(every)}`;
}

/** Slack reads `<…>` as a link or a mention. */
function escaped(text: string): string {
  return printable(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
