import type { Span } from '../../components/line.tsx';
import type { Glyphs, Tone } from '../../components/theme.ts';
import { formatCount, formatNumberOf } from '../../src/amounts.ts';
import type { LogLine, RunState } from '../../src/state/run.ts';

const LEADS: Record<LogLine['kind'], { lead: string; tone: Tone }> = {
  step: { lead: '  ', tone: 'plain' },
  command: { lead: '$ ', tone: 'dim' },
  warning: { lead: '! ', tone: 'caution' },
};

export interface LogOptions {
  state: RunState;
  scrolledUp: number;
  height: number;
  width: number;
  glyphs: Glyphs;
}

/** The part of the log in view, below a title that says whether it follows. */
export function logLines({ state, scrolledUp, height, width, glyphs }: LogOptions): Span[][] {
  const rows = Math.max(0, height - 1);
  const furthest = Math.max(0, state.log.length - rows);
  const up = Math.min(scrolledUp, furthest);
  const end = state.log.length - up;
  const dropped = state.droppedLines > 0 ? `, ${formatCount(state.droppedLines)} earlier ones gone` : '';
  const paused = up > 0 ? `, paused ${formatNumberOf(up, 'line')} above its end` : '';
  const title = `Log${paused}${dropped} `;
  const rule = glyphs.rule.repeat(Math.max(0, width - title.length));
  return [
    [{ text: title + rule, tone: 'dim' }],
    ...state.log.slice(Math.max(0, end - rows), end).map(({ at, kind, text }): Span[] => {
      const { lead, tone } = LEADS[kind];
      return [
        { text: `${clockTime(at)} ${lead}`, tone: 'dim' },
        { text, tone },
      ];
    }),
  ];
}

function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}
