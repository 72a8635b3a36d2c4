import type { Span } from '../../components/line.tsx';
import type { Glyphs, Tone } from '../../src/presentation/shapes/glyphs.ts';
import type { Message } from '../../src/state/messages.ts';
import type { Notice } from '../../src/state/navigation.ts';

export interface Status {
  /** The result of the last key. */
  notice: Notice | null;
  /** The result of a run that is not shown. */
  toast: Message | null;
  /** The runs in progress: see `runsInProgress`. */
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
