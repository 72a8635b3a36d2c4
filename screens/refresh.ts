import { formatDuration } from '../src/amounts.ts';
import { toUserError } from '../src/errors.ts';
import { unlessAborted } from '../src/process/unless-aborted.ts';
import type { TargetRow } from '../src/results.ts';
import { snapshotsFailed, snapshotsListed } from '../src/state/snapshots.ts';
import {
  targetsChecked,
  targetsChecking,
  targetsFailed,
  targetsListed,
  targetsUnreachable,
} from '../src/state/targets.ts';
import { type Model, quietly, targetsInView } from './model.ts';

/** Every check is bounded itself; this is for the day on which one is not. */
const SILENCE_MS = 10_000;

/** How long a listing may take. */
const LISTING_MS = 10_000;

/** Rows that are found in between are drawn together: each drawing holds up the keys. */
const DRAWN_EVERY_MS = 60;

interface RunningRefresh {
  done: Promise<void>;
  controller: AbortController;
}

const running = new WeakMap<Model, RunningRefresh>();

/** Checks again what the present route shows. */
export async function refresh(model: Model): Promise<void> {
  const place = model.navigation.top();
  if (place.screen === 'snapshots') await refreshSnapshots(model, place.target);
  else await refreshTargets(model);
}

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

async function checkAll(model: Model, signal: AbortSignal): Promise<void> {
  const listed = await listTargets(model);
  if (!listed || signal.aborted) return;
  model.targets.setState(targetsChecking);
  await checkTargets(model, { rows: mostUrgentFirst(model, listed), signal });
  if (signal.aborted) return;
  model.remember(
    model.targets.getState().entries.flatMap(({ row, checkedAt }) => (checkedAt === null ? [] : [{ row, checkedAt }])),
  );
}

/** What is in view comes first, then what the list shows further down. */
function mostUrgentFirst(model: Model, rows: TargetRow[]): TargetRow[] {
  const place = model.navigation.top();
  if (place.screen !== 'targets') return rows;
  const left = new Map(rows.map((row) => [row.name, row]));
  const urgent = [...new Set([...model.viewport.keys, ...targetsInView(model, place).ids])].flatMap((name) => {
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

async function listTargets({ targets, operations }: Model): Promise<TargetRow[] | null> {
  try {
    const rows = await operations.listTargets(quietly(AbortSignal.timeout(LISTING_MS)));
    targets.setState((state) => targetsListed(state, rows));
    return rows;
  } catch (thrown) {
    targets.setState((state) => targetsFailed(state, toUserError(thrown)));
    return null;
  }
}

async function checkTargets(
  { targets: store, operations, clock }: Model,
  { rows, signal }: { rows: TargetRow[]; signal: AbortSignal },
): Promise<void> {
  const now = (): number => clock().getTime();
  const left = new Set(rows.map(({ name }) => name));
  const found = new Map<string, TargetRow>();
  let drawing: NodeJS.Timeout | null = null;
  const draw = (): void => {
    if (drawing) clearTimeout(drawing);
    drawing = null;
    if (signal.aborted || found.size === 0) return;
    const drawn = new Map(found);
    found.clear();
    store.setState((state) => targetsChecked(state, drawn, now()));
  };
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const take = (row: TargetRow): void => {
    left.delete(row.name);
    found.set(row.name, row);
    drawing ??= setTimeout(draw, DRAWN_EVERY_MS);
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  const ended = AbortSignal.any([signal, silence.signal]);
  try {
    await unlessAborted(operations.checkTargets(quietly(ended), { rows, take }), ended);
    draw();
  } catch (thrown) {
    draw();
    if (signal.aborted) return;
    const reason = silence.signal.aborted
      ? `no answer within ${formatDuration(SILENCE_MS)}`
      : toUserError(thrown).message;
    store.setState((state) => targetsUnreachable(state, { names: left, reason, now: now() }));
  } finally {
    clearTimeout(timer);
  }
}
