import { paceOf } from './progress.ts';
import type { RunStep } from './run-step.ts';

/** A step to come; its duration is estimated before the run, from bytes, indexes and rows. */
export interface ExpectedStep {
  step: string;
  label: string;
  ms: number;
}

/** The part of a run's state that its progress depends on. */
export interface RunSteps {
  /** While `waiting`, `startedAt` is the time of the request. */
  status: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  startedAt: number;
  endedAt: number | null;
  steps: RunStep[];
  /** All steps, as planned. */
  expected: ExpectedStep[];
  anchor: ProgressAnchor;
}

/** All steps of a run: those that have begun, in their order, then those to come. */
export interface StepInList {
  begun: RunStep | null;
  label: string;
  /** Estimated; `null` for a step that was not expected. */
  expectedMs: number | null;
}

/** The share that was reached when the remaining work grew, and the work that remained then. */
export interface ProgressAnchor {
  share: number;
  workMs: number;
}

export interface OverallProgress {
  /** 0 to 1; never falls, and is 1 when the run is done and not before. */
  share: number;
  /** `null` where nothing is known. */
  leftMs: number | null;
  steps: StepInList[];
}

/** The duration of a step that nobody expected. */
const UNEXPECTED_MS = 500;
/** After the steps of a run that announced none. */
const UNKNOWN_REST_MS = 25;
/** A running run is not done, whatever its steps report. */
const MOST_WHILE_RUNNING = 0.99;
/** Before the first step the plan is verified. */
const LEAD_MS = 200;
/** The estimates count as much as the measured durations when these have lasted so long, or such a share of the run. */
const PRIOR_MS = 300;
const PRIOR_SHARE = 0.15;
/** One step that takes much longer or shorter than expected says little of the others. */
const MOST_OF_A_STEP = 3;
const STEP_SLACK_MS = 200;
const LEAST_FACTOR = 0.2;
const MOST_FACTOR = 8;

/** The progress of a whole run at a time: one figure for its card, the status line and the list of runs. */
export function overallProgress(state: RunSteps, now: number): OverallProgress {
  const at = state.endedAt ?? now;
  const steps = stepsInList(state);
  const isRunning = state.status === 'running';
  return {
    share: state.status === 'done' ? 1 : state.status === 'waiting' ? 0 : shareOf(state, at),
    leftMs: isRunning ? remainingMs(state, at) : null,
    steps: isRunning || state.status === 'waiting' ? steps : steps.filter(({ begun }) => begun !== null),
  };
}

/** Returns the anchor after an event, so that the share does not fall where more work is found. */
export function nextAnchor(before: RunSteps, after: RunSteps, now: number): ProgressAnchor {
  const workMs = remainingWork(after, now);
  if (workMs <= remainingWork(before, now)) return before.anchor;
  return { share: shareOf(before, now), workMs };
}

export function startAnchor(expected: ExpectedStep[]): ProgressAnchor {
  return { share: 0, workMs: expected.reduce((sum, { ms }) => sum + ms, 0) || UNKNOWN_REST_MS };
}

function shareOf(state: RunSteps, now: number): number {
  const { share, workMs } = state.anchor;
  const left = Math.max(0, Math.min(1, remainingWork(state, now) / workMs));
  return Math.min(MOST_WHILE_RUNNING, 1 - (1 - share) * left);
}

/** Expected steps are found in the order of the plan; one that was passed over does not come. */
function stepsInList({ steps, expected }: RunSteps): StepInList[] {
  const open = new Set(expected.keys());
  let next = 0;
  const begun = steps.map((step): StepInList => {
    const matching = [...open].filter((index) => expected[index]?.step === step.step);
    const found = matching.find((index) => index >= next) ?? matching.at(-1);
    if (found === undefined) return { begun: step, label: step.label, expectedMs: null };
    open.delete(found);
    next = Math.max(next, found + 1);
    return { begun: step, label: step.label, expectedMs: expected[found]?.ms ?? null };
  });
  const toCome = expected.slice(next).map(({ label, ms }): StepInList => ({ begun: null, label, expectedMs: ms }));
  return [...begun, ...toCome];
}

/** Milliseconds of the estimate that remain. Without another event it only falls. */
function remainingWork(state: RunSteps, now: number): number {
  const unknown = state.expected.length === 0 ? UNKNOWN_REST_MS : 0;
  return stepsInList(state).reduce((sum, step) => sum + workLeft(step, now), unknown);
}

function workLeft({ begun, expectedMs }: StepInList, now: number): number {
  const ms = expectedMs ?? UNEXPECTED_MS;
  if (begun === null) return ms;
  return begun.state === 'running' ? ms * (1 - doneShare(begun, { ms: expectedMs, now })) : 0;
}

/** By what is reported, else by the time. */
function doneShare(step: RunStep, { ms, now }: { ms: number | null; now: number }): number {
  const reported = step.progress && paceOf(step.progress, now).share;
  // What is read is not all written yet; before the first report the time tells.
  if (reported) return reported * MOST_REPORTED;
  const spentMs = Math.max(0, now - step.startedAt);
  if (ms === null) return spentMs / (spentMs + SLOW_MS);
  const spent = spentMs / ms;
  // A step that takes longer than expected comes closer to its end, and does not reach it.
  return spent <= STEADY ? spent : 1 - ((1 - STEADY) * STEADY) / spent;
}

const STEADY = 0.8;
const SLOW_MS = 20_000;
const MOST_REPORTED = 0.95;

function remainingMs(state: RunSteps, now: number): number | null {
  if (state.expected.length === 0) return null;
  const steps = stepsInList(state);
  const factor = slowness(state, { steps, now });
  return steps.reduce((sum, step) => sum + leftOfStep(step, { factor, now }), 0);
}

/** Steps to come are as much slower or faster than expected as those before. */
function slowness({ steps: begun, startedAt, expected }: RunSteps, { steps, now }: StepsAt): number {
  const first = begun[0]?.startedAt ?? now;
  const all = expected.reduce((sum, { ms }) => sum + ms, 0);
  const prior = Math.max(PRIOR_MS, PRIOR_SHARE * all);
  const [spent, done] = steps.reduce(
    ([spentMs, doneMs], step) => {
      if (step.begun === null || step.expectedMs === null) return [spentMs, doneMs];
      const part = step.expectedMs - workLeft(step, now);
      const ms = Math.max(0, (step.begun.endedAt ?? now) - step.begun.startedAt);
      const least = Math.max(0, part / MOST_OF_A_STEP - STEP_SLACK_MS);
      return [spentMs + Math.max(least, Math.min(part * MOST_OF_A_STEP + STEP_SLACK_MS, ms)), doneMs + part];
    },
    [Math.min(first - startedAt, LEAD_MS * MOST_OF_A_STEP), LEAD_MS],
  );
  return Math.max(LEAST_FACTOR, Math.min(MOST_FACTOR, (spent + prior) / (done + prior)));
}

interface StepsAt {
  steps: StepInList[];
  now: number;
}

function leftOfStep(step: StepInList, { factor, now }: { factor: number; now: number }): number {
  const { begun } = step;
  if (begun?.state === 'running' && begun.progress) {
    const { remainingMs: measured } = paceOf(begun.progress, now);
    if (measured !== null) return measured;
  }
  // A step that takes longer than expected is expected to take longer still.
  const overdue =
    begun?.state === 'running' ? OVERDUE_SHARE * Math.max(0, now - begun.startedAt - (step.expectedMs ?? 0)) : 0;
  return Math.max(overdue, workLeft(step, now) * factor);
}

const OVERDUE_SHARE = 0.5;
