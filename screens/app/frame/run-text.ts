import { profileOfScheme } from '../../../src/engines/list.ts';
import { percentText, type StateMark } from '../../../src/presentation/progress.ts';
import type { Cell } from '../../../src/presentation/shapes/column.ts';
import type { Glyphs, Tone } from '../../../src/presentation/shapes/glyphs.ts';
import { queuedText } from '../../../src/presentation/shapes/question.ts';
import { kindBadge } from '../../../src/presentation/snapshot.ts';
import type { ScreenNotice } from '../../../src/state/navigation.ts';
import { elapsed, type LogLine, type RunState } from '../../../src/state/run.ts';
import { progressOfRun, type Run, type RunSummary, runBefore } from '../../../src/state/runs.ts';
import { formatDuration, formatNumberOf, formatPartOf } from '../../../src/text/format.ts';

export const RUN_MARKS: Record<RunState['status'], StateMark> = {
  waiting: { glyph: 'pending', tone: 'dim' },
  running: { glyph: 'running', tone: 'accent' },
  done: { glyph: 'good', tone: 'good' },
  failed: { glyph: 'bad', tone: 'bad' },
  cancelled: { glyph: 'caution', tone: 'caution' },
};

/** Returns the tone for the result of a run that is done. */
export function outcomeTone(summary: RunSummary | null): 'good' | 'caution' | 'bad' {
  if ((summary?.problems.length ?? 0) > 0) return 'bad';
  return summary?.caution ? 'caution' : 'good';
}

/** `running 3.2 s`, `failed after 3.2 s` */
export function runStatus({ state, summary, cancelling }: Run, now: number): Cell {
  const { status } = state;
  const tone = status === 'done' ? outcomeTone(summary) : RUN_MARKS[status].tone;
  const time = formatDuration(elapsed(state, now));
  if (status === 'waiting') return { text: 'queued', tone };
  if (status === 'running') return { text: `${cancelling ? 'cancelling' : 'running'} ${time}`, tone };
  return { text: `${status} after ${time}`, tone };
}

/** The kind of its data, before the status: of a sanitization that of its result, once there is one. */
export function runBadge({ sanitized, summary }: Run): Cell[] {
  const isSanitized = summary?.sanitized !== undefined || sanitized;
  return isSanitized === undefined ? [] : [kindBadge(isSanitized), { text: '  ' }];
}

/** `shop_dev replaced`, `1.5 s`, `unavailable 46 ms`: the result, the duration, then what else is known. */
export function cardTexts({ state, summary }: Run): string[] {
  const { card, unavailable } = summary ?? {};
  if (!card) return [];
  const pause = unavailable ? [`unavailable ${formatDuration(unavailable.ms)}`] : [];
  return [card.title, formatDuration(elapsed(state, state.endedAt ?? state.startedAt)), ...card.facts, ...pause];
}

/** Said only where it is true: a swap is the last step, and it has not begun. */
export function untouchedLines({ state, swaps }: Run): string[] {
  const touched = state.steps.some(({ step }) => step === 'swap');
  return swaps && !touched && state.endedAt !== null ? [`${swaps.database} was not touched.`] : [];
}

/** `psql` or `mysql`: the client of a database. */
export function clientName(url: string): string {
  return profileOfScheme(url.split(':', 1)[0] ?? '')?.client ?? 'the client';
}

export function clientEndedText(name: string, code: number | null): string {
  return code === null ? `${name} was ended by a signal` : `${name} ended with exit code ${code}`;
}

/** Explains why a run waits. */
export function queuedLines(before: Run | null): string[] {
  return [
    queuedText(before?.title ?? 'an earlier run'),
    'Runs on one target are executed one after the other. You can leave this screen.',
  ];
}

/** A run that has ended, in one line: also printed after quitting. */
export function endedLine({ title, state, summary }: Run): ScreenNotice {
  if (state.status === 'done') {
    const time = formatDuration(elapsed(state, state.endedAt ?? state.startedAt));
    return { text: summary ? `${summary.line} in ${time}` : title, tone: outcomeTone(summary) };
  }
  const reason = state.error ? `: ${state.error.message}` : '';
  return { text: `${title} ${state.status}${reason}`, tone: state.status === 'cancelled' ? 'caution' : 'bad' };
}

export function cancelQuestion({ title }: Run) {
  return {
    question: `Cancel: ${title}?`,
    lines: ['Partial work is removed; the destination is unchanged.'],
    options: [
      { label: 'Continue', value: 'stay' },
      { label: 'Cancel the run', value: 'cancel' },
    ],
  };
}

export function quitQuestion(live: Run[]) {
  const one = live.length === 1;
  return {
    question: `${formatNumberOf(live.length, 'run')} in progress:`,
    lines: live.map(({ title, state }) => (state.status === 'waiting' ? `${title} (queued)` : title)),
    options: [
      { label: 'Stay', value: 'stay' as const },
      { label: `Quit when ${one ? 'it has' : 'all have'} ended`, value: 'wait' as const },
      { label: `Cancel ${one ? 'it' : 'all'} and quit`, value: 'cancel' as const },
    ],
  };
}

export const RUN_NOTES = {
  waitingToQuit: 'Quitting when the runs have ended…',
  cancellingToQuit: 'Cancelling, then quitting…',
  ctrlC: 'Press Ctrl-C again to quit',
};

/** The running step and its progress, or what a queued run waits for. */
export function runningText(run: Run, { runs, now }: { runs: Run[]; now: number }): string {
  const { state } = run;
  if (state.status === 'waiting') return `after ${runBefore(runs, run)?.title ?? 'an earlier run'}`;
  const step = state.steps.findLast((other) => other.state === 'running');
  return [step?.label, percentOf(run, now)].filter(Boolean).join(': ');
}

/** Whole percents: the line is drawn on every change. */
export function percentOf(run: Pick<Run, 'state'>, now: number): string {
  return percentText(progressOfRun(run, now).share);
}

/** `● Build a snapshot of app 42% and 1 more, 2 queued`; empty without other runs than the one shown. */
export function runsInProgress(
  runs: Run[],
  { shown, glyphs, now }: { shown: string | null; glyphs: Glyphs; now: number },
): string {
  const others = runs.filter(({ id }) => id !== shown);
  const [first, ...more] = others.filter(({ state }) => state.status === 'running');
  const queued = others.filter(({ state }) => state.status === 'waiting').length;
  const running = first && [first.title, percentOf(first, now), more.length > 0 ? `and ${more.length} more` : null];
  const words = [running?.filter(Boolean).join(' '), queued > 0 ? `${queued} queued` : null].filter(Boolean);
  return words.length === 0 ? '' : `${first ? glyphs.running : glyphs.pending} ${words.join(', ')}`;
}

export const LOG_MARKS: Record<
  LogLine['kind'],
  { lead: Exclude<keyof Glyphs, 'corners' | 'junctions'> | null; tone: Tone }
> = {
  step: { lead: 'pending', tone: 'plain' },
  done: { lead: 'good', tone: 'plain' },
  skipped: { lead: 'skipped', tone: 'dim' },
  failed: { lead: 'bad', tone: 'bad' },
  command: { lead: null, tone: 'dim' },
  warning: { lead: 'caution', tone: 'caution' },
};

interface LogView {
  filter: string;
  found: number;
  /** Lines below the view. */
  up: number;
}

/** `Log: 3 of 40 lines, paused 12 lines above the end` */
export function logTitle({ log, droppedLines }: RunState, { filter, found, up }: LogView): string {
  const matching = filter === '' ? '' : `: ${formatPartOf(found, log.length, 'line')}`;
  const paused = up > 0 ? `, paused ${formatNumberOf(up, 'line')} above the end` : '';
  const dropped = droppedLines > 0 ? `, ${formatNumberOf(droppedLines, 'earlier line')} dropped` : '';
  return `Log${matching}${paused}${dropped}`;
}
