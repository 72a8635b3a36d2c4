import { createStore, type StoreApi } from 'zustand/vanilla';
import { interrupted, toUserError } from '../errors.ts';
import type { Report, RunEvent } from '../events.ts';
import type { SnapshotRow } from '../results.ts';
import type { Coverage } from '../sanitize-results.ts';
import { endRun, foldRun, type RunState, startRun } from './run.ts';

/** All work of this session, running and ended; it goes on whatever screen is shown. */
export interface RunsState {
  runs: Run[];
}

export interface Run {
  id: string;
  title: string;
  target: string;
  kind: RunKind;
  state: RunState;
  receipt: Receipt | null;
  cancelling: boolean;
}

export type RunKind =
  | 'build'
  | 'load'
  | 'verify'
  | 'remove'
  | 'undo'
  | 'sanitize'
  | 'subset'
  | 'push'
  | 'pull'
  | 'export';

/** What a finished run says it did. */
export interface Receipt {
  /** `Loaded snapshot 0 of app into …`: also printed after quitting. */
  line: string;
  /** More of it, shown below the line. */
  details?: string[];
  /** Findings that make a finished run less than a success. */
  problems: string[];
  /** Whether `undo` can take it back. */
  undoable: boolean;
  sanitized?: Sanitized;
}

/** What a sanitization has changed, and the file that its query was read from. */
export interface Sanitized {
  original: SnapshotRow;
  coverage: Coverage;
  queryFile: string | null;
}

export interface Session {
  report: Report;
  signal: AbortSignal;
}

export interface Work {
  title: string;
  target: string;
  kind: RunKind;
  perform: (session: Session) => Promise<(durationMs: number) => Receipt>;
}

export interface Runs {
  store: StoreApi<RunsState>;
  /** Begins the work and returns its id at once; it never rejects. */
  begin(work: Work): string;
  /** Does the same work again, as a new run. */
  again(id: string): string | null;
  cancel(id: string, reason?: unknown): void;
  running(): Run[];
  /** Resolves when nothing is running. */
  settled(): Promise<void>;
}

/** Events are shown at most this often: more is not seen, and each costs a frame. */
const SHOW_EVERY_MS = 66;

export function createRuns({ clock }: { clock: () => Date }): Runs {
  const store = createStore<RunsState>(() => ({ runs: [] }));
  const works = new Map<string, { work: Work; controller: AbortController; ended: Promise<void> }>();
  const now = () => clock().getTime();
  const runOf = (id: string) => store.getState().runs.find((run) => run.id === id);
  const change = (id: string, update: (run: Run) => Run) =>
    store.setState(({ runs }) => ({ runs: runs.map((run) => (run.id === id ? update(run) : run)) }));

  function begin(work: Work): string {
    const id = String(works.size + 1);
    const { title, target, kind } = work;
    const run: Run = { id, title, target, kind, state: startRun(now()), receipt: null, cancelling: false };
    store.setState(({ runs }) => ({ runs: [...runs, run] }));
    const controller = new AbortController();
    works.set(id, { work, controller, ended: perform(id, work, controller.signal) });
    return id;
  }

  async function perform(id: string, work: Work, signal: AbortSignal): Promise<void> {
    const events = batched((batch) =>
      change(id, (run) => ({
        ...run,
        state: batch.reduce((state, { event, at }) => foldRun(state, event, at), run.state),
      })),
    );
    try {
      const receiptAfter = await work.perform({ report: (event) => events.add({ event, at: now() }), signal });
      events.flush();
      change(id, (run) => {
        const state = endRun(run.state, { status: 'done' }, now());
        return { ...run, state, receipt: receiptAfter(now() - state.startedAt) };
      });
    } catch (thrown) {
      events.flush();
      const error = toUserError(thrown);
      const status = signal.aborted ? 'cancelled' : 'failed';
      change(id, (run) => ({ ...run, state: endRun(run.state, { status, error }, now()) }));
    }
  }

  return {
    store,
    begin,
    again(id) {
      const known = works.get(id);
      return known ? begin(known.work) : null;
    },
    cancel(id, reason = interrupted()) {
      if (runOf(id)?.state.status !== 'running') return;
      change(id, (run) => ({ ...run, cancelling: true }));
      works.get(id)?.controller.abort(reason);
    },
    running: () => store.getState().runs.filter(({ state }) => state.status === 'running'),
    async settled() {
      await Promise.all([...works.values()].map(({ ended }) => ended));
    },
  };
}

interface Dated {
  event: RunEvent;
  at: number;
}

/** Hands events on in batches: no more often than is shown. */
function batched(show: (batch: Dated[]) => void) {
  const waiting: Dated[] = [];
  let timer: NodeJS.Timeout | null = null;
  const flush = () => {
    if (timer) clearTimeout(timer);
    timer = null;
    if (waiting.length > 0) show(waiting.splice(0));
  };
  return {
    flush,
    add(dated: Dated) {
      waiting.push(dated);
      timer ??= setTimeout(flush, SHOW_EVERY_MS);
    },
  };
}
