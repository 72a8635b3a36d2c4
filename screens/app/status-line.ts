import type { Span } from '../../components/line.tsx';
import type { Glyphs, Tone } from '../../src/presentation/glyphs.ts';
import type { Message } from '../../src/state/messages.ts';
import type { Notice } from '../../src/state/navigation.ts';
import { paceOf } from '../../src/state/progress.ts';
import type { Run } from '../../src/state/runs.ts';

export interface Status {
  /** The result of the last key. */
  notice: Notice | null;
  /** The result of a run that is not shown. */
  toast: Message | null;
  /** The runs in progress: see `workWords`. */
  work: string;
}

const MARKS: Partial<Record<Tone, 'good' | 'caution' | 'bad'>> = { good: 'good', caution: 'caution', bad: 'bad' };

/** The line above the keys: the last notice, else the last result, else the runs in progress. */
export function statusSpans({ notice, toast, work }: Status, glyphs: Glyphs): Span[] {
  if (notice) return [{ text: notice.text, tone: notice.tone }];
  if (!toast) return [{ text: work, tone: 'accent' }];
  const mark = MARKS[toast.tone];
  return [{ text: mark ? `${glyphs[mark]} ${toast.text}` : toast.text, tone: toast.tone }];
}

/** `● Build a snapshot of app 42 % and 1 more, 2 waiting`; empty without other runs than the one shown. */
export function workWords(runs: Run[], { shown, glyphs }: { shown: string | null; glyphs: Glyphs }): string {
  const others = runs.filter(({ id }) => id !== shown);
  const running = others.filter(({ state }) => state.status === 'running');
  const waiting = others.filter(({ state }) => state.status === 'waiting').length;
  const [first, ...more] = running;
  const words = [
    first ? `${first.title}${shareOf(first)}${more.length > 0 ? ` and ${more.length} more` : ''}` : '',
    waiting > 0 ? `${waiting} waiting` : '',
  ].filter((part) => part !== '');
  return words.length === 0 ? '' : `${first ? glyphs.running : glyphs.pending} ${words.join(', ')}`;
}

/** Whole percents: the line is drawn on every change. */
function shareOf({ state }: Run): string {
  const progress = state.steps.findLast((step) => step.state === 'running')?.progress;
  const share = progress ? paceOf(progress, state.startedAt).share : null;
  return share === null ? '' : ` ${Math.floor(share * 100)} %`;
}
