import { formatDuration } from '../../src/amounts.ts';
import { EXIT, toUserError, UserError } from '../../src/errors.ts';
import type { TargetRow } from '../../src/results.ts';
import { snapshotsFailed, snapshotsListed } from '../../src/state/snapshots.ts';
import {
  targetsChecked,
  targetsChecking,
  targetsFailed,
  targetsListed,
  targetsUnreachable,
} from '../../src/state/targets.ts';
import { type Model, quietly, screenOf } from './model.ts';

/** Every check is bounded itself; this is for the day on which one is not. */
const SILENCE_MS = 10_000;

/** How long a listing may take. */
const LISTING_MS = 10_000;

/** The first rows are drawn soon; those found after them are drawn together, since each drawing holds up the keys. */
const FIRST_DRAWN_MS = 30;
const DRAWN_EVERY_MS = 200;

/** So many targets are checked in a thread of their own: reading and checking them would hold up the keys. */
const APART_FROM = 100;

interface RunningRefresh {
  done: Promise<void>;
  controller: AbortController;
}

const running = new WeakMap<Model, RunningRefresh>();

/** Reads the targets, then checks all their connections. A refresh that is running is joined. It never rejects. */
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

/** The same after the configuration has changed: what is being checked may be another server than before. */
export function refreshTargetsAnew(model: Model): Promise<void> {
  cancelRefresh(model);
  return refreshTargets(model);
}

/** Closes the connections of a running refresh; what was found stays. */
export function cancelRefresh(model: Model): void {
  running.get(model)?.controller.abort(new Error('the refresh was cancelled'));
  running.delete(model);
}

/** One operation, so that a long configuration is read once. */
async function checkAll(model: Model, signal: AbortSignal): Promise<void> {
  const { targets: store, operations } = model;
  const rows = drawnTogether(model, signal);
  const silence = createSilence();
  let isListed = false;
  const ended = AbortSignal.any([signal, silence.signal]);
  try {
    const refreshing = operations.refreshTargets(quietly(ended), {
      apart: store.getState().entries.length >= APART_FROM,
      listed(found) {
        isListed = true;
        silence.broken();
        rows.expect(found);
        if (!ended.aborted) store.setState((state) => targetsChecking(targetsListed(state, found)));
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
    const error = silence.signal.aborted ? noAnswer() : toUserError(thrown);
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

function noAnswer(): UserError {
  const message = `no answer within ${formatDuration(SILENCE_MS)}`;
  return new UserError(message, { code: 'unreachable', exit: EXIT.unreachable });
}

/** A signal that is aborted when nothing was found for a long time. */
function createSilence() {
  const controller = new AbortController();
  const begin = (): NodeJS.Timeout => setTimeout(() => controller.abort(noAnswer()), SILENCE_MS);
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

/** Rows on their way to the screen. */
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
    /** Those of which nothing was found. */
    fail(reason: string) {
      draw();
      store.setState((state) => targetsUnreachable(state, { names: left, reason, now: now() }));
    },
  };
}

/** What is in view comes first, then what the list shows further down. */
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

export async function refreshSnapshots(model: Model, target: string): Promise<void> {
  const { snapshots, operations } = model;
  try {
    const listed = await operations.listSnapshots(quietly(AbortSignal.timeout(LISTING_MS)), target);
    snapshots.setState((state) => snapshotsListed(state, target, listed.snapshots));
  } catch (thrown) {
    snapshots.setState((state) => snapshotsFailed(state, target, toUserError(thrown)));
  }
}

/** After work on a target: what is listed anywhere is brought up to date. */
export async function refreshAfterWork(model: Model, target: string): Promise<void> {
  await Promise.all([refreshSnapshots(model, target), listTargets(model)]);
}

async function listTargets({ targets, operations }: Model): Promise<void> {
  try {
    const rows = await operations.listTargets(quietly(AbortSignal.timeout(LISTING_MS)));
    targets.setState((state) => targetsListed(state, rows));
  } catch (thrown) {
    targets.setState((state) => targetsFailed(state, toUserError(thrown)));
  }
}
