import type { Span } from '../../../components/line.tsx';
import { progressBar } from '../../../components/progress-bar.ts';
import type { StatusFact } from '../../../components/status-bar.tsx';
import type { Glyphs } from '../../../src/presentation/shapes/glyphs.ts';
import type { Message } from '../../../src/state/messages.ts';
import type { ScreenNotice } from '../../../src/state/navigation.ts';
import { progressOfRun, type Run } from '../../../src/state/runs.ts';
import { cellWidth } from '../../../src/text/text-width.ts';
import type { Model, Session } from '../model.ts';
import { READ_ONLY_BADGE, versionText } from '../text.ts';

export interface Status {
  /** The result of the last key. */
  notice: ScreenNotice | null;
  /** The result of a run that is not shown. */
  toast: Message | null;
  /** The runs in progress: see `runsInProgress`. */
  work: string;
  /** Filled share of the bar of the first run; `null` where it is unknown. */
  filled: number | null;
  /** Cells; the bar is left out where the words need them. */
  width: number;
}

const BAR_WIDTH = 10;
/** A blank beside it, and those at the ends of the line. */
const BAR_MARGIN = 3;

/** The line above the keys: the last notice, else the last result, else the runs in progress. */
export function statusSpans({ notice, toast, work, filled, width }: Status, glyphs: Glyphs): Span[] {
  if (notice) return [{ text: notice.text, tone: notice.tone }];
  if (!toast) {
    const isRoom = cellWidth(work) + BAR_WIDTH + BAR_MARGIN <= width;
    const bar = filled === null || !isRoom ? [] : progressBar({ share: filled / BAR_WIDTH, width: BAR_WIDTH, glyphs });
    return [...bar, { text: bar.length > 0 ? ` ${work}` : work, tone: 'accent' }];
  }
  const { text, tone } = toast;
  return [{ text: tone === 'plain' ? text : `${glyphs[tone]} ${text}`, tone }];
}

/** Whole cells: the line is drawn on every change. */
export function runningCells(runs: Run[], { shown, now }: { shown: string | null; now: number }): number | null {
  const first = runs.find(({ id, state }) => id !== shown && state.status === 'running');
  return first ? Math.floor(progressOfRun(first, now).share * BAR_WIDTH) : null;
}

export function sessionFacts({ readOnly, version }: Model, { file, mode }: Session): StatusFact[] {
  return [
    { text: readOnly ? READ_ONLY_BADGE : '', tone: 'caution', bold: true, dropRank: 0 },
    { text: file ?? '', tone: 'plain', dropRank: 1 },
    { text: mode, tone: 'dim', dropRank: 2 },
    { text: version === '' ? '' : versionText(version), tone: 'dim', dropRank: 3 },
  ];
}
