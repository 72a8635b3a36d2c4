import type { UserError } from '../runtime/errors.ts';
import type { ProgressEvent, RunEvent } from '../runtime/events.ts';
import { type Progress, startProgress, updateProgress } from './progress.ts';

/** What is known of a piece of work, folded from its events: the live output and the run screen draw nothing else. */
export interface RunState {
  /** `waiting` for its turn: `startedAt` is then when it was asked for. */
  status: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  startedAt: number;
  endedAt: number | null;
  steps: RunStep[];
  /** Steps, commands and warnings in the order they came; the oldest go first. */
  log: LogLine[];
  /** Lines that the log has let go of. */
  droppedLines: number;
  warnings: { code: string; message: string }[];
  error: UserError | null;
}

export interface RunStep {
  step: string;
  label: string;
  state: 'running' | 'done' | 'skipped' | 'failed';
  startedAt: number;
  endedAt: number | null;
  progress: Progress | null;
}

export interface LogLine {
  at: number;
  kind: 'step' | 'done' | 'skipped' | 'failed' | 'command' | 'warning';
  text: string;
  /** Which step begins with this line. */
  step?: string;
  /** How long a step that is done has taken. */
  tookMs?: number;
}

export type RunEnd = { status: 'done' } | { status: 'failed' | 'cancelled'; error: UserError };

const LOG_LIMIT = 1000;

/** A run that has just begun; `now` is in milliseconds, as everywhere in the fold. */
export function startRun(now: number): RunState {
  return {
    status: 'running',
    startedAt: now,
    endedAt: null,
    steps: [],
    log: [],
    droppedLines: 0,
    warnings: [],
    error: null,
  };
}

/** A run that has been asked for and has to wait for its turn. */
export function queueRun(now: number): RunState {
  return { ...startRun(now), status: 'waiting' };
}

/** The state after an event: the one place that gives events a meaning. */
export function foldRun(state: RunState, event: RunEvent, now: number): RunState {
  switch (event.event) {
    case 'step':
      return logStep(withStep(state, { ...event, now }), { ...event, now });
    case 'progress':
      return withProgress(state, event, now);
    case 'command':
      return addLog(state, { at: now, kind: 'command', text: event.command });
    case 'command_ended':
    case 'statement':
    case 'sign_in':
      return state;
    case 'warning': {
      const { code, message } = event;
      const warned = { ...state, warnings: [...state.warnings, { code, message }] };
      return addLog(warned, { at: now, kind: 'warning', text: message });
    }
    default:
      return event satisfies never;
  }
}

/** The state when the work has ended; a step that was still running shares its fate. */
export function endRun(state: RunState, end: RunEnd, now: number): RunState {
  const fate = end.status === 'done' ? 'done' : 'failed';
  const logged = end.status === 'done' ? state : addLog(state, { at: now, kind: 'failed', text: end.error.message });
  return {
    ...logged,
    status: end.status,
    endedAt: now,
    error: end.status === 'done' ? null : end.error,
    steps: state.steps.map((step) => (step.state === 'running' ? { ...step, state: fate, endedAt: now } : step)),
  };
}

/** How long the run has taken, or took. */
export function elapsed(state: { startedAt: number; endedAt: number | null }, now: number): number {
  return Math.max(0, (state.endedAt ?? now) - state.startedAt);
}

interface StepChange {
  step: string;
  state: 'started' | 'done' | 'skipped';
  label: string;
  now: number;
}

function withStep(state: RunState, { step, state: change, label, now }: StepChange): RunState {
  const known = state.steps.findLast((other) => other.step === step);
  const goesOn = known?.state === 'running';
  const next: RunStep = {
    step,
    label,
    state: change === 'started' ? 'running' : change,
    startedAt: goesOn ? known.startedAt : now,
    endedAt: change === 'started' ? null : now,
    progress: goesOn ? known.progress : null,
  };
  // Work of several parts may go through a step again, which is then a step of its own.
  const steps = goesOn ? state.steps.map((other) => (other === known ? next : other)) : [...state.steps, next];
  return { ...state, steps };
}

function withProgress(state: RunState, event: ProgressEvent, now: number): RunState {
  const last = state.steps.findLast(({ step }) => step === event.step);
  return {
    ...state,
    steps: state.steps.map((step) =>
      step === last
        ? { ...step, progress: updateProgress(step.progress ?? startProgress(event, step.startedAt), event, now) }
        : step,
    ),
  };
}

/** A step that ends before anything else is said has one line: what it did and how long that took. */
function logStep(state: RunState, { step, state: change, label, now }: StepChange): RunState {
  if (change === 'started') return addLog(state, { at: now, kind: 'step', text: label, step });
  const startedAt = state.steps.findLast((other) => other.step === step)?.startedAt ?? now;
  const line: LogLine = { at: now, kind: change, text: label, ...(change === 'done' && { tookMs: now - startedAt }) };
  const last = state.log.at(-1);
  const begins = last?.kind === 'step' && last.step === step;
  return begins ? { ...state, log: [...state.log.slice(0, -1), line] } : addLog(state, line);
}

function addLog(state: RunState, line: LogLine): RunState {
  const excess = Math.max(0, state.log.length + 1 - LOG_LIMIT);
  return { ...state, log: [...state.log.slice(excess), line], droppedLines: state.droppedLines + excess };
}
