import type { ProgressEvent, RunEvent } from '../results/events.ts';
import type { UserError } from '../runtime/errors.ts';
import { type ExpectedStep, nextAnchor, type RunSteps, startAnchor } from './overall-progress.ts';
import { startProgress, updateProgress } from './progress.ts';
import type { RunStep } from './run-step.ts';

/** The state of a run, folded from its events: live output and run screen show nothing else. */
export interface RunState extends RunSteps {
  /** Oldest first; a limit drops the oldest. */
  log: LogLine[];
  droppedLines: number;
  warnings: { code: string; message: string }[];
  error: UserError | null;
}

export interface LogLine {
  at: number;
  kind: 'step' | 'done' | 'skipped' | 'failed' | 'command' | 'warning';
  text: string;
  step?: string;
  tookMs?: number;
}

export type RunEnd = { status: 'done' } | { status: 'failed' | 'cancelled'; error: UserError };

const LOG_LIMIT = 1000;

/** An agent runs for months. */
const STEP_LIMIT = 1000;

export function startRun(now: number, expected: ExpectedStep[] = []): RunState {
  return {
    status: 'running',
    startedAt: now,
    endedAt: null,
    steps: [],
    expected,
    anchor: startAnchor(expected),
    log: [],
    droppedLines: 0,
    warnings: [],
    error: null,
  };
}

export function queueRun(now: number, expected: ExpectedStep[] = []): RunState {
  return { ...startRun(now, expected), status: 'waiting' };
}

/** The only place that interprets events. */
export function foldRun(state: RunState, event: RunEvent, now: number): RunState {
  switch (event.event) {
    case 'step':
      return anchored(state, logStep(withStep(state, { ...event, now }), { ...event, now }), now);
    case 'progress':
      return anchored(state, withProgress(state, event, now), now);
    case 'command':
      return addLog(state, { at: now, kind: 'command', text: event.command });
    case 'command_ended':
    case 'statement':
    case 'sign_in':
    case 'serving':
    case 'server':
      return state;
    case 'warning': {
      const { code, message } = event;
      const warned = { ...state, warnings: [...state.warnings, { code, message }].slice(-LOG_LIMIT) };
      return addLog(warned, { at: now, kind: 'warning', text: message });
    }
    default:
      return event satisfies never;
  }
}

function anchored(before: RunState, after: RunState, now: number): RunState {
  return { ...after, anchor: nextAnchor(before, after, now) };
}

/** An active step gets the result of its run. */
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
  // Repeated steps are separate steps.
  const steps = goesOn
    ? state.steps.map((other) => (other === known ? next : other))
    : [...state.steps, next].slice(-STEP_LIMIT);
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

/** A step without other events has one line: its result and duration. */
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
