import type { TargetRow } from '../../../src/results/results.ts';
import { toUserError, UserError } from '../../../src/runtime/errors.ts';
import {
  diskUseRead,
  type SnapshotTables,
  snapshotsFailed,
  snapshotsListed,
  snapshotsOf,
  tablesRead,
} from '../../../src/state/snapshots.ts';
import {
  targetsChecked,
  targetsChecking,
  targetsFailed,
  targetsListed,
  targetsUnreachable,
} from '../../../src/state/targets.ts';
import { formatDuration } from '../../../src/text/format.ts';
import { type Model, quietly, screenOf } from '../model.ts';

/** Each check has its own timeout; this one is a safeguard. */
const SILENCE_MS = 10_000;

const LISTING_MS = 10_000;

/** The first rows are drawn soon; later ones in batches, since each drawing delays the keys. */
const FIRST_DRAWN_MS = 30;
const DRAWN_EVERY_MS = 200;

/** From this number on, targets are checked in a worker thread: checking them would delay the keys. */
const APART_FROM = 100;

interface RunningRefresh {
  done: Promise<void>;
  controller: AbortController;
}

const running = new WeakMap<Model, RunningRefresh>();

/** Reads the targets, then checks their connections; joins a running refresh. Never rejects. */
export function refreshTargets(model: Model): Promise<void> {
  const joined = running.get(model);
  if (joined) return joined.done;
  const controller = new AbortController();
  const done = checkAll(model, controller.signal).finally(() => {
    if (running.get(model)?.controller === controller) running.delete(model);
  });
  running.set(model, { done, controller });
  return done;
}

export function isRefreshing(model: Model): boolean {
  return running.has(model);
}

/** Restarts a running refresh, after a change of the configuration. */
export function refreshTargetsAnew(model: Model): Promise<void> {
  cancelRefresh(model);
  return refreshTargets(model);
}

/** Closes the connections of a running refresh. */
export function cancelRefresh(model: Model): void {
  running.get(model)?.controller.abort(new Error('the refresh was cancelled'));
  running.delete(model);
}

/** One operation, so that the configuration is read once. */
async function checkAll(model: Model, signal: AbortSignal): Promise<void> {
  const { targets: store, operations } = model;
  const rows = drawnTogether(model, signal);
  const silence = createSilence();
  let isListed = false;
  const ended = AbortSignal.any([signal, silence.signal]);
  try {
    const refreshing = operations.refreshTargets(quietly(ended), {
      apart: store.getState().entries.length >= APART_FROM,
      listed(found, hub) {
        isListed = true;
        silence.broken();
        rows.expect(found);
        if (!ended.aborted) store.setState((state) => targetsChecking(targetsListed(state, found, hub)));
        return mostUrgentFirst(model, found);
      },
      take(row) {
        silence.broken();
        rows.take(row);
      },
    });
    await Promise.race([refreshing, rejectedBy(ended)]);
    rows.draw();
  } catch (thrown) {
    if (signal.aborted) return;
    const error = toUserError(silence.signal.aborted ? silence.signal.reason : thrown);
    if (isListed) rows.fail(error.message);
    else store.setState((state) => targetsFailed(state, error));
    if (!isListed) return;
  } finally {
    silence.end();
  }
  if (signal.aborted) return;
  model.remember(
    store.getState().entries.flatMap(({ row, checkedAt }) => (checkedAt === null ? [] : [{ row, checkedAt }])),
  );
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** A signal that is aborted after a long time without results. */
function createSilence() {
  const controller = new AbortController();
  const noAnswer = new UserError('unreachable', `no answer within ${formatDuration(SILENCE_MS)}`);
  const begin = (): NodeJS.Timeout => setTimeout(() => controller.abort(noAnswer), SILENCE_MS);
  let timer = begin();
  return {
    signal: controller.signal,
    broken() {
      clearTimeout(timer);
      timer = begin();
    },
    end: () => clearTimeout(timer),
  };
}

/** Collects rows and draws them in batches. */
function drawnTogether({ targets: store, clock }: Model, signal: AbortSignal) {
  const now = (): number => clock().getTime();
  let left = new Set<string>();
  let found = new Map<string, TargetRow>();
  let drawing: NodeJS.Timeout | undefined;
  let delay = FIRST_DRAWN_MS;
  const draw = (): void => {
    clearTimeout(drawing);
    drawing = undefined;
    const drawn = found;
    found = new Map();
    if (!signal.aborted && drawn.size > 0) store.setState((state) => targetsChecked(state, drawn, now()));
  };
  return {
    draw,
    expect(rows: TargetRow[]) {
      left = new Set(rows.map(({ name }) => name));
    },
    take(row: TargetRow) {
      left.delete(row.name);
      found.set(row.name, row);
      drawing ??= setTimeout(draw, delay);
      delay = DRAWN_EVERY_MS;
    },
    /** Marks the rows without a result as unreachable. */
    fail(reason: string) {
      draw();
      store.setState((state) => targetsUnreachable(state, { names: left, reason, now: now() }));
    },
  };
}

/** The rows in view first, then the rest of the list. */
function mostUrgentFirst(model: Model, rows: TargetRow[]): TargetRow[] {
  const route = model.navigation.top();
  if (route.screen !== 'targets') return rows;
  const left = new Map(rows.map((row) => [row.name, row]));
  const urgent = [
    ...new Set([...model.viewport.keys, ...(screenOf(model, route).rows?.(model, route).ids ?? [])]),
  ].flatMap((name) => {
    const row = left.get(name);
    left.delete(name);
    return row ?? [];
  });
  return [...urgent, ...left.values()];
}

/** Leaves the list as it is when the signal ends it. */
export async function refreshSnapshots(model: Model, target: string, signal?: AbortSignal): Promise<void> {
  const { snapshots, operations } = model;
  try {
    const listed = await operations.listSnapshots(quietly(within(LISTING_MS, signal)), target);
    snapshots.setState((state) => snapshotsListed(state, target, listed.snapshots));
    void readDiskUse(model, target);
  } catch (thrown) {
    if (!signal?.aborted) snapshots.setState((state) => snapshotsFailed(state, target, toUserError(thrown)));
  }
}

/** Reads the tables of a snapshot, which do not change. */
export async function readTables(
  { snapshots, operations }: Model,
  { target, snapshot }: { target: string; snapshot: string },
  signal?: AbortSignal,
): Promise<void> {
  const keep = (tables: SnapshotTables) =>
    snapshots.setState((state) => tablesRead(state, { target, snapshot }, tables));
  try {
    const found = await operations.listTables(quietly(within(LISTING_MS, signal)), { target, snapshot });
    keep({ found, error: null });
  } catch (thrown) {
    if (!signal?.aborted) keep({ found: null, error: toUserError(thrown) });
  }
}

function within(ms: number, signal?: AbortSignal): AbortSignal {
  const timeout = AbortSignal.timeout(ms);
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
}

async function readDiskUse({ snapshots, operations }: Model, target: string): Promise<void> {
  const bytes = await operations.localDiskUse(quietly(AbortSignal.timeout(LISTING_MS)), target).catch(() => null);
  if (bytes !== snapshotsOf(snapshots.getState(), target).localBytes)
    snapshots.setState((state) => diskUseRead(state, target, bytes));
}

export async function refreshAfterRun(model: Model, target: string): Promise<void> {
  await Promise.all([refreshSnapshots(model, target), listTargets(model, target)]);
}

async function listTargets({ targets, operations }: Model, target: string): Promise<void> {
  try {
    const rows = await operations.listTargetsAfterRun(quietly(AbortSignal.timeout(LISTING_MS)), target);
    targets.setState((state) => targetsListed(state, rows));
  } catch (thrown) {
    targets.setState((state) => targetsFailed(state, toUserError(thrown)));
  }
}
