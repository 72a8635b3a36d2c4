import type { Span } from '../../../components/line.tsx';
import { damagedText, historyFacts } from '../../../src/operations/history/text.ts';
import type { Column } from '../../../src/presentation/shapes/column.ts';
import type { Fact } from '../../../src/presentation/shapes/fact.ts';
import type { Glyphs } from '../../../src/presentation/shapes/glyphs.ts';
import { formatCount, formatDuration, formatNumberOf, formatTime } from '../../../src/text/format.ts';
import { printable } from '../../../src/text/printable.ts';
import { fitCells } from '../../../src/text/text-width.ts';
import type { ActivityEntry } from '../lists/activity.ts';
import { RUN_MARKS } from './run-text.ts';

/** Messages are longer than names of runs. */
const WIDEST_NAME = 48;

interface ActivityOptions {
  glyphs: Glyphs;
  now: number;
}

export function activityColumns({ glyphs, now }: ActivityOptions): Column<ActivityEntry>[] {
  return [
    { title: 'TIME', whole: true, cell: ({ at }) => ({ text: timeText(at, now), tone: 'dim' }) },
    {
      title: 'STATE',
      whole: true,
      cell: (entry) => stateCell(entry, glyphs),
      brief: (entry) => markCell(entry, glyphs),
    },
    { title: 'ACTIVITY', max: WIDEST_NAME, cell: ({ name }) => ({ text: printable(name) }) },
    { title: 'TARGET', dropRank: 2, cell: ({ target }) => ({ text: printable(target ?? ''), tone: 'dim' }) },
    { title: 'DURATION', align: 'right', whole: true, dropRank: 1, cell: (entry) => ({ text: durationText(entry) }) },
    { title: 'RESULT', grows: true, dropRank: 3, cell: ({ text }) => ({ text: printable(text), tone: 'dim' }) },
  ];
}

function stateCell(entry: ActivityEntry, glyphs: Glyphs) {
  const { text, tone } = markCell(entry, glyphs);
  return { text: `${text} ${entry.status === 'noted' ? '' : stateWord(entry)}`, tone };
}

function stateWord({ status, run }: ActivityEntry): string {
  if (status === 'waiting') return 'queued';
  return run?.cancelling && status === 'running' ? 'cancelling' : status;
}

function markCell({ status, tone }: ActivityEntry, glyphs: Glyphs) {
  if (status === 'waiting' || status === 'running') {
    const mark = RUN_MARKS[status];
    return { text: glyphs[mark.glyph], tone: mark.tone };
  }
  return { text: tone === 'plain' ? glyphs.dot : glyphs[tone], tone };
}

/** The time of today, else the day. */
function timeText(at: number, now: number): string {
  const [day = '', time = ''] = formatTime(at).split(' ');
  return formatTime(now).startsWith(day) ? time.slice(0, 5) : day;
}

function durationText({ durationMs }: ActivityEntry): string {
  return durationMs === null ? '' : formatDuration(durationMs);
}

export function activityDetail(entry: ActivityEntry): { title: string; facts: Fact[] } {
  const { name, at, run, recorded, text, durationMs, tone, status, target } = entry;
  if (recorded) return { title: printable(name), facts: historyFacts(recorded).facts };
  const facts: [string, string | null][] = [
    ['Time', formatTime(at)],
    ['State', status === 'noted' ? null : stateWord(entry)],
    ['Duration', durationMs === null ? null : formatDuration(durationMs)],
    ['Target', target],
    ['Message', status === 'noted' ? name : null],
    ['Result', text || null],
    ...(run?.summary?.details ?? [])
      .slice(0, 3)
      .map((detail, index): [string, string] => [index === 0 ? 'Details' : '', detail]),
  ];
  return {
    title: status === 'noted' ? 'Message' : printable(name),
    facts: facts.flatMap(([label, value]) =>
      value === null
        ? []
        : [{ name: label, value: printable(value), ...(label === 'State' && tone !== 'plain' && { tone }) }],
    ),
  };
}

/** `12 entries, 1 running, 2 queued` */
export function activityCount(
  entries: ActivityEntry[],
  { shown, damaged }: { shown: number; damaged: number },
): string {
  const all = formatNumberOf(entries.length, 'entry', 'entries');
  const live = (['running', 'waiting'] as const).flatMap((status) => {
    const count = entries.filter((entry) => entry.status === status).length;
    return count === 0 ? [] : [`${count} ${status === 'waiting' ? 'queued' : status}`];
  });
  const lost = damaged === 0 ? [] : [damagedText(damaged)];
  return [shown === entries.length ? all : `${formatCount(shown)} of ${all}`, ...live, ...lost].join(', ');
}

/** With the progress, or the reason of a failure. */
function toldName({ name, status, text }: ActivityEntry): string {
  return text !== '' && (status === 'running' || status === 'failed') ? `${name}: ${text}` : name;
}

/** `20 Nov`, where a whole date has no room. */
function briefTime(at: number, now: number): string {
  const text = timeText(at, now);
  if (text.includes(':')) return text;
  return new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
}

/** Cells of an entry of a strip, at least. */
const LEAST_CELLS = 52;
const DURATION_WIDTH = 8;
const NOTHING_DONE = 'No runs yet';
const GAP = 3;

export interface StripOptions extends ActivityOptions {
  width: number;
  /** Lines at most. */
  most: number;
}

/** The newest entries in columns, side by side: `19:52 ✓ load 37d19e30 → shop_dev  1.2 s`. */
export function activityLines(entries: ActivityEntry[], { glyphs, now, width, most }: StripOptions): Span[][] {
  const count = Math.max(1, Math.floor((width + GAP) / (LEAST_CELLS + GAP)));
  const cells = Math.floor((width + GAP) / count) - GAP;
  const lines = Math.max(1, Math.min(most, Math.ceil(entries.length / count)));
  const { ellipsis } = glyphs;
  if (entries.length === 0) return [[{ text: NOTHING_DONE, tone: 'dim' }]];
  const timeWidth = Math.max(0, ...entries.slice(0, lines * count).map(({ at }) => briefTime(at, now).length));
  const nameWidth = cells - timeWidth - DURATION_WIDTH - 4;
  const cell = (entry: ActivityEntry | undefined, index: number): Span[] => {
    const gap: Span[] = index === 0 ? [] : [{ text: ' '.repeat(GAP) }];
    if (!entry) return gap;
    const mark = markCell(entry, glyphs);
    return [
      ...gap,
      { text: `${briefTime(entry.at, now).padEnd(timeWidth)} `, tone: 'dim' },
      { text: `${fitCells(mark.text, 1, { ellipsis })} `, tone: mark.tone },
      { text: fitCells(printable(toldName(entry)), nameWidth, { ellipsis }) },
      { text: ` ${fitCells(durationText(entry), DURATION_WIDTH, { align: 'right', ellipsis })}`, tone: 'dim' },
    ];
  };
  return Array.from({ length: lines }, (_, line) =>
    Array.from({ length: count }, (_, column) => cell(entries[line * count + column], column)).flat(),
  );
}
