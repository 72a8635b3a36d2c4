import { type Progress, paceOf } from './progress.ts';
import type { RunStep } from './run-step.ts';

/** A step to come; its duration is estimated before the run, from bytes, indexes and rows. */
export interface ExpectedStep {
  step: string;
  label: string;
  ms: number;
  /** The bytes of a content that is not known, and the part of `ms` that depends on them: corrected once they are known. */
  assumed?: { bytes: number; ms: number };
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
const PRIOR_MS = 1000;
const PRIOR_SHARE = 0.1;
/** One step that takes much longer or shorter than expected says little of the others. */
const MOST_OF_A_STEP = 4;
/** It takes much shorter where its content has not changed. */
const LEAST_OF_A_STEP = 1 / 2;
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
  const all = stepsInList(after).reduce((sum, { expectedMs }) => sum + (expectedMs ?? UNEXPECTED_MS), 0);
  // Of a content that turned out to be larger, a part is done already.
  const done = before.expected.length === 0 ? 0 : Math.min(MOST_WHILE_RUNNING, 1 - workMs / Math.max(all, workMs));
  return { share: Math.max(shareOf(before, now), done), workMs };
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
function stepsInList({ steps, expected: planned }: RunSteps): StepInList[] {
  const expected = corrected(planned, steps);
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

/** Estimates of a content that was assumed, by the bytes that the first step has reported. */
function corrected(expected: ExpectedStep[], steps: RunStep[]): ExpectedStep[] {
  const { bytes } = expected.find(({ assumed }) => assumed !== undefined)?.assumed ?? {};
  const found = bytes === undefined ? undefined : steps.find(({ progress }) => progress?.unit === 'bytes');
  const total = found?.progress?.total;
  if (bytes === undefined || !total) return expected;
  const growth = total / bytes - 1;
  return expected.map((step) => (step.assumed ? { ...step, ms: step.ms + step.assumed.ms * growth } : step));
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
  const all = expected.reduce((sum, { ms }) => sum + ms, 0);
  const prior = Math.max(PRIOR_MS, PRIOR_SHARE * all);
  const leadMs = Math.min((begun[0]?.startedAt ?? now) - startedAt, LEAD_MS * MOST_OF_A_STEP);
  const known = steps.map((step) => measured(step, now)).filter((one) => one !== null);
  const spent = known.reduce((sum, one) => sum + one.spentMs, leadMs + prior);
  const done = known.reduce((sum, one) => sum + one.doneMs, LEAD_MS + prior);
  return Math.max(LEAST_FACTOR, Math.min(MOST_FACTOR, spent / done));
}

/** Returns the time that a step took, and that which this part of it was expected to take; `null` where the step says nothing yet. */
function measured({ begun, expectedMs }: StepInList, now: number): { spentMs: number; doneMs: number } | null {
  if (begun === null || expectedMs === null) return null;
  const ms = Math.max(0, (begun.endedAt ?? now) - begun.startedAt);
  const share = begun.state === 'running' ? (begun.progress && paceOf(begun.progress, now).share) || null : 1;
  // Without a report only a step that is overdue tells something.
  const doneMs = share === null ? Math.min(ms, expectedMs) : expectedMs * share;
  if ((share === null || share < TELLING_SHARE) && ms <= expectedMs) return null;
  const least = Math.max(0, doneMs * LEAST_OF_A_STEP - STEP_SLACK_MS);
  return { spentMs: Math.max(least, Math.min(doneMs * MOST_OF_A_STEP + STEP_SLACK_MS, ms)), doneMs };
}

/** Before the first rows a step reads the catalog, or creates tables. */
const TELLING_SHARE = 0.25;

interface StepsAt {
  steps: StepInList[];
  now: number;
}

function leftOfStep({ begun, expectedMs }: StepInList, { factor, now }: { factor: number; now: number }): number {
  const ms = (expectedMs ?? UNEXPECTED_MS) * factor;
  if (begun === null) return ms;
  if (begun.state !== 'running') return 0;
  const spent = Math.max(0, now - begun.startedAt);
  // A step that takes longer than expected is expected to take longer still.
  const byTime = Math.max(ms - spent, OVERDUE_SHARE * (spent - LATE_FROM * ms), LEAST_LEFT_SHARE * ms);
  return begun.progress ? leftByPace(begun.progress, { ms, startedAt: begun.startedAt, byTime, now }) : byTime;
}

/** At first the expected rate counts more than the measured one, which begins with the first report. */
function leftByPace({ done, total, samples }: Progress, { ms, startedAt, byTime, now }: StepEstimate): number {
  const first = samples.find((sample) => sample.done > 0);
  if (total === null || total <= 0 || !first || done > total) return byTime;
  const span = Math.max(0, now - first.at);
  // A dump reads the catalog first.
  const expected = (total - first.done) / Math.max(ms - (first.at - startedAt), LEAST_PACED_SHARE * ms);
  const trusted = Math.max(TRUSTED_MS, TRUSTED_SHARE * ms);
  return (total - done) / ((done - first.done + expected * trusted) / (span + trusted));
}

interface StepEstimate {
  /** All of the step, as expected. */
  ms: number;
  startedAt: number;
  byTime: number;
  now: number;
}

const TRUSTED_MS = 1000;
/** The progress of a long step comes in parts that are not alike. */
const TRUSTED_SHARE = 0.25;
/** The least share of a step after its first report. */
const LEAST_PACED_SHARE = 0.3;
const OVERDUE_SHARE = 0.8;
const LATE_FROM = 0.7;
const LEAST_LEFT_SHARE = 0.1;
