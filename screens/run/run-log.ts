import type { Span } from '../../components/line.tsx';
import type { Glyphs, Tone } from '../../components/theme.ts';
import { matchesFilter } from '../../src/state/list.ts';
import type { LogLine, RunState } from '../../src/state/run.ts';
import { formatCount, formatDuration, formatNumberOf } from '../../src/text/format.ts';

const LOOKS: Record<LogLine['kind'], { lead: keyof Glyphs | null; tone: Tone }> = {
  step: { lead: 'pending', tone: 'plain' },
  done: { lead: 'good', tone: 'plain' },
  skipped: { lead: 'skipped', tone: 'dim' },
  failed: { lead: 'bad', tone: 'bad' },
  command: { lead: null, tone: 'dim' },
  warning: { lead: 'caution', tone: 'caution' },
};

export interface LogOptions {
  state: RunState;
  filter: string;
  scrolledUp: number;
  height: number;
  width: number;
  glyphs: Glyphs;
}

export interface LogView {
  lines: Span[][];
  furthest: number;
}

/** The part of the log in view, below its title. */
export function viewLog({ state, filter, scrolledUp, height, width, glyphs }: LogOptions): LogView {
  const found = filter === '' ? state.log : state.log.filter(({ text }) => matchesFilter(filter, [text]));
  const rows = Math.max(0, height - 1);
  const furthest = Math.max(0, found.length - rows);
  const up = Math.min(scrolledUp, furthest);
  const end = found.length - up;
  const title = `Log${logFacts(state, { filter, found: found.length, up })} `;
  const rule = glyphs.rule.repeat(Math.max(0, width - title.length));
  return {
    lines: [
      [{ text: title + rule, tone: 'dim' }],
      ...found.slice(Math.max(0, end - rows), end).map((line) => logLine(line, glyphs)),
    ],
    furthest,
  };
}

interface LogFacts {
  filter: string;
  found: number;
  up: number;
}

function logFacts({ log, droppedLines }: RunState, { filter, found, up }: LogFacts): string {
  const matching = filter === '' ? '' : `: ${formatCount(found)} of ${formatNumberOf(log.length, 'line')}`;
  const paused = up > 0 ? `, paused ${formatNumberOf(up, 'line')} above its end` : '';
  const dropped = droppedLines > 0 ? `, ${formatCount(droppedLines)} earlier ones gone` : '';
  return matching + paused + dropped;
}

function logLine({ at, kind, text, tookMs }: LogLine, glyphs: Glyphs): Span[] {
  const { lead, tone } = LOOKS[kind];
  return [
    { text: `${clockTime(at)} `, tone: 'dim' },
    { text: `${lead === null ? '$' : glyphs[lead]} `, tone: kind === 'done' ? 'good' : tone },
    { text, tone },
    { text: tookMs === undefined ? '' : `  ${formatDuration(tookMs)}`, tone: 'dim' },
  ];
}

function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}
