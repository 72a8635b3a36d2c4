import { createStore, type StoreApi } from 'zustand/vanilla';
import type { RunEvent } from '../results/events.ts';
import type { SnapshotRow } from '../results/results.ts';
import type { RehearsalResult } from '../results/review/rehearsal-results.ts';
import type { Coverage } from '../results/review/sanitize-results.ts';
import { interrupted, toUserError, UserError } from '../runtime/errors.ts';
import type { Report } from '../runtime/events.ts';
import { type ExpectedStep, type OverallProgress, overallProgress } from './overall-progress.ts';
import { endRun, foldRun, queueRun, type RunEnd, type RunState, startRun } from './run.ts';

/** All runs of this session: waiting, running and ended. */
export interface RunsState {
  runs: Run[];
}

export interface Run extends Omit<RunDefinition, 'planAgain' | 'perform' | 'steps'> {
  id: string;
  state: RunState;
  summary: RunSummary | null;
  cancelling: boolean;
}

export type RunKind =
  | 'build'
  | 'save'
  | 'load'
  | 'verify'
  | 'remove'
  | 'undo'
  | 'reset'
  | 'branch'
  | 'server'
  | 'sanitize'
  | 'subset'
  | 'push'
  | 'pull'
  | 'export'
  | 'import'
  | 'apply';

/** The database that a run replaces as its last step. */
export interface ReplacedDatabase {
  database: string;
  /** Without password. */
  url: string;
  /** There is a previous version to keep. */
  exists: boolean;
}

export interface RunSummary {
  /** `Loaded snapshot 0 of app into …`: also printed after quitting. */
  line: string;
  details: string[];
  problems: string[];
  /** The result in a few words, beside the duration and the time for which something was unavailable. */
  card?: { title: string; facts: string[] };
  /** The database that was unavailable during the swap, and for how long. */
  unavailable?: { what: string; ms: number } | null;
  /** Done, but not what it may be taken for: shown as a caution. */
  caution?: boolean;
  /** The database whose previous version, or of which previous rows are kept, and the command that restores them. */
  undo: { database: string; command: string; rows?: boolean } | null;
  sanitized?: SanitizeOutcome;
  /** The report of a rehearsal, for its screen. */
  rehearsal?: RehearsalResult;
  /** Schemas with data that a build left out, and no setting excludes. */
  lostSchemas?: string[];
  /** The database that was made, without password. Default: the replaced one. */
  url?: string;
  /** Id of the snapshot that was made, loaded or moved. */
  snapshot?: string;
}

export interface SanitizeOutcome {
  original: SnapshotRow;
  coverage: Coverage;
  queryFile: string | null;
}

export interface RunContext {
  report: Report;
  signal: AbortSignal;
  /** Called when the operation has ended: what follows, such as reading lists again, is not of its duration. */
  worked?: () => void;
}

export interface RunDefinition {
  title: string;
  target: string;
  kind: RunKind;
  /** The replaced database, under one name for all spellings of its host; `null` for none. */
  replaces: string | null;
  /** Its data is sanitized; absent where that is not known, or there is none. */
  sanitized?: boolean;
  /** Until the step `swap` begins it is unchanged. */
  swaps?: ReplacedDatabase;
  /** All steps, as planned; absent where they are not known before. */
  steps?: ExpectedStep[];
  /** Plans the operation again with a changed request, and asks. */
  planAgain?: (change: object, title: string) => void;
  perform: (session: RunContext) => Promise<RunSummary>;
}

export interface Runs {
  store: StoreApi<RunsState>;
  /** Starts or queues the run, and returns its id at once; never rejects. */
  begin(definition: RunDefinition): string;
  again(id: string): string | null;
  definitionOf(id: string): RunDefinition | null;
  /** Stops a running run; a waiting one never starts. */
  cancel(id: string, reason?: unknown): void;
  cancelAll(reason?: unknown): void;
  live(): Run[];
  settled(): Promise<void>;
}

export interface RunsOptions {
  clock: () => Date;
  onEnd?: (run: Run) => void;
}

export function createRuns({ clock, onEnd = () => {} }: RunsOptions): Runs {
  const store = createStore<RunsState>(() => ({ runs: [] }));
  const jobs = new Map<string, Job>();
  const now = () => clock().getTime();
  const live = () => store.getState().runs.filter(isLive);
  const change = (id: string, update: (run: Run) => Run) =>
    store.setState(({ runs }) => ({ runs: changed(runs, id, update) }));
  const events = batched((batch) => store.setState(({ runs }) => ({ runs: batch.reduce(foldInto, runs) })));

  function begin(definition: RunDefinition): string {
    const id = String(jobs.size + 1);
    const { planAgain: _, perform: __, steps, ...shown } = definition;
    const run: Run = { ...shown, id, state: queueRun(now(), steps), summary: null, cancelling: false };
    jobs.set(id, { definition, controller: new AbortController(), ended: Promise.withResolvers() });
    store.setState(({ runs }) => ({ runs: [...runs, run] }));
    startNext();
    return id;
  }

  function startNext(): void {
    for (const run of live()) {
      const isNext = run.state.status === 'waiting' && runBefore(store.getState().runs, run) === null;
      const job = jobs.get(run.id);
      if (isNext && job) void perform(run.id, job);
    }
  }

  async function perform(id: string, { definition, controller: { signal } }: Job): Promise<void> {
    change(id, (run) => ({ ...run, state: startRun(now(), definition.steps) }));
    let workedUntil: number | undefined;
    const session: RunContext = {
      report: (event) => events.add({ run: id, event, at: now() }),
      signal,
      worked: () => {
        workedUntil = now();
      },
    };
    await definition.perform(session).then(
      (summary) => end(id, { status: 'done' }, { summary, ...(workedUntil !== undefined && { workedUntil }) }),
      (thrown: unknown) => end(id, { status: signal.aborted ? 'cancelled' : 'failed', error: toUserError(thrown) }),
    );
  }

  function end(id: string, fate: RunEnd, { summary = null, workedUntil }: RunOutcome = {}): void {
    events.flush();
    const ended = (run: Run): Run => ({ ...run, state: endRun(run.state, fate, workedUntil ?? now()), summary });
    store.setState(({ runs }) => ({ runs: withoutOldUndo(changed(runs, id, ended), id) }));
    jobs.get(id)?.ended.resolve();
    const run = store.getState().runs.find((other) => other.id === id);
    if (run) onEnd(run);
    startNext();
  }

  function cancel(id: string, reason: unknown = interrupted()): void {
    const run = live().find((other) => other.id === id);
    if (run?.state.status === 'waiting') end(id, { status: 'cancelled', error: notBegun() });
    if (run?.state.status !== 'running') return;
    change(id, (other) => ({ ...other, cancelling: true }));
    jobs.get(id)?.controller.abort(reason);
  }

  return {
    store,
    begin,
    cancel,
    again(id) {
      const job = jobs.get(id);
      return job ? begin(job.definition) : null;
    },
    definitionOf: (id) => jobs.get(id)?.definition ?? null,
    cancelAll(reason) {
      // Last first, so that no waiting run starts.
      for (const { id } of live().reverse()) cancel(id, reason);
    },
    live,
    async settled() {
      await Promise.all([...jobs.values()].map(({ ended }) => ended.promise));
    },
  };
}

/** The progress of a run up to the time until which all of its events have been folded. */
export function progressOfRun({ state }: Pick<Run, 'state'>, now: number): OverallProgress {
  return overallProgress(state, Math.max(state.startedAt, now - SHOW_EVERY_MS));
}

export function isLive({ state }: Run): boolean {
  return state.status === 'waiting' || state.status === 'running';
}

/** Runs on one target take turns, in the order of their requests; runs on different targets run in parallel. */
export function runBefore(runs: Run[], { id, target }: Pick<Run, 'id' | 'target'>): Run | null {
  const index = runs.findIndex((run) => run.id === id);
  const earlier = index === -1 ? runs : runs.slice(0, index);
  return earlier.findLast((run) => run.target === target && isLive(run)) ?? null;
}

interface RunOutcome {
  summary?: RunSummary | null;
  workedUntil?: number;
}

interface Job {
  definition: RunDefinition;
  controller: AbortController;
  ended: PromiseWithResolvers<void>;
}

function notBegun(): UserError {
  return new UserError('interrupted', 'Removed from the queue');
}

/** An undo would now restore what this run has replaced: earlier runs on the same database no longer offer theirs. */
function withoutOldUndo(runs: Run[], id: string): Run[] {
  const last = runs.find((run) => run.id === id);
  if (!last?.summary || last.replaces === null) return runs;
  const since = `Since then: ${last.summary.line}`;
  return runs.map((run) =>
    run !== last && run.replaces === last.replaces && run.summary?.undo
      ? { ...run, summary: { ...run.summary, undo: null, details: [...run.summary.details, since] } }
      : run,
  );
}

interface TimedEvent {
  run: string;
  event: RunEvent;
  at: number;
}

function foldInto(runs: Run[], { run: id, event, at }: TimedEvent): Run[] {
  return changed(runs, id, (run) => ({ ...run, state: foldRun(run.state, event, at) }));
}

function changed(runs: Run[], id: string, update: (run: Run) => Run): Run[] {
  return runs.map((run) => (run.id === id ? update(run) : run));
}

/** In ms: each update costs a frame. */
const SHOW_EVERY_MS = 100;

function batched(show: (batch: TimedEvent[]) => void) {
  const waiting: TimedEvent[] = [];
  let timer: NodeJS.Timeout | null = null;
  const flush = () => {
    if (timer) clearTimeout(timer);
    timer = null;
    if (waiting.length > 0) show(waiting.splice(0));
  };
  return {
    flush,
    add(dated: TimedEvent) {
      waiting.push(dated);
      timer ??= setTimeout(flush, SHOW_EVERY_MS);
    },
  };
}
