import type { Span } from '../../components/line.tsx';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import { matchesFilter } from '../../src/state/list.ts';
import type { LogLine, RunState } from '../../src/state/run.ts';
import { wrap } from '../../src/text/text-width.ts';
import { LOG_MARKS, logTitle } from '../app/frame/run-text.ts';
import { logText } from './log-text.ts';

export interface RunLogOptions {
  filter: string;
  width: number;
  /** Commands in full. */
  unfolded: boolean;
  glyphs: Glyphs;
}

export interface WrappedLog {
  /** Entries that the filter lets through. */
  found: number;
  lines: Span[][];
}

export interface LogView {
  lines: Span[][];
  furthest: number;
}

export function wrapLog(log: LogLine[], { filter, ...options }: RunLogOptions): WrappedLog {
  // A folded command is found by its full text, too.
  const found = filter === '' ? log : log.filter(({ text }) => matchesFilter(filter, [text]));
  return { found: found.length, lines: found.flatMap((line) => logLines(line, options)) };
}

interface ViewOptions extends Pick<RunLogOptions, 'filter' | 'width' | 'glyphs'> {
  state: RunState;
  wrapped: WrappedLog;
  scrolledUp: number;
  height: number;
}

/** The part of the log in view, below its title. */
export function viewLog({ state, wrapped, filter, scrolledUp, height, width, glyphs }: ViewOptions): LogView {
  const { found, lines: all } = wrapped;
  const rows = Math.max(0, height - 1);
  const furthest = Math.max(0, all.length - rows);
  const up = Math.min(scrolledUp, furthest);
  const end = all.length - up;
  const title = `${logTitle(state, { filter, found, up })} `;
  const rule = glyphs.rule.repeat(Math.max(0, width - title.length));
  return {
    lines: [[{ text: title + rule, tone: 'dim' }], ...all.slice(Math.max(0, end - rows), end)],
    furthest,
  };
}

const TIME_WIDTH = 9;
const LEAST_TEXT = 16;

function logLines(line: LogLine, { width, glyphs, unfolded }: Omit<RunLogOptions, 'filter'>) {
  const { lead, tone } = LOG_MARKS[line.kind];
  const mark = lead === null ? '$' : glyphs[lead];
  const indent = TIME_WIDTH + mark.length + 1;
  return wrap(logText(line, { unfolded }), Math.max(LEAST_TEXT, width - indent)).map((text, index): Span[] =>
    index === 0
      ? [
          { text: `${clockTime(line.at)} `, tone: 'dim' },
          { text: `${mark} `, tone: line.kind === 'done' ? 'good' : tone },
          { text, tone },
        ]
      : [{ text: ' '.repeat(indent) }, { text, tone }],
  );
}

function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}
