import type { Span } from '../../components/line.tsx';
import { LOG_LOOKS, logTitle } from '../../src/presentation/run.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import { matchesFilter } from '../../src/state/list.ts';
import type { LogLine, RunState } from '../../src/state/run.ts';
import { formatDuration } from '../../src/text/format.ts';

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
  const title = `${logTitle(state, { filter, found: found.length, up })} `;
  const rule = glyphs.rule.repeat(Math.max(0, width - title.length));
  return {
    lines: [
      [{ text: title + rule, tone: 'dim' }],
      ...found.slice(Math.max(0, end - rows), end).map((line) => logLine(line, glyphs)),
    ],
    furthest,
  };
}

function logLine({ at, kind, text, tookMs }: LogLine, glyphs: Glyphs): Span[] {
  const { lead, tone } = LOG_LOOKS[kind];
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
