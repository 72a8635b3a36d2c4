import { formatDuration } from '../src/amounts.ts';
import { toUserError } from '../src/errors.ts';
import { snapshotsFailed, snapshotsListed } from '../src/state/snapshots.ts';
import {
  targetChecked,
  targetsChecking,
  targetsFailed,
  targetsListed,
  targetUnreachable,
} from '../src/state/targets.ts';
import { type Model, quietly } from './model.ts';

/** An operation is bounded itself; this is for the day on which it is not. */
const PATIENCE_MS = 10_000;

/** Looks again at what the present place shows. */
export async function refresh(model: Model): Promise<void> {
  const place = model.navigation.top();
  if (place.screen === 'snapshots') await refreshSnapshots(model, place.target);
  else await refreshTargets(model);
}

/** Reads the targets, then tries all their connections side by side. Nothing waits for it, and it never rejects. */
export async function refreshTargets(model: Model): Promise<void> {
  if (!(await listTargets(model))) return;
  model.targets.setState(targetsChecking);
  const { entries } = model.targets.getState();
  await Promise.all(entries.map(({ row }) => checkTarget(model, row.name)));
  model.remember(
    model.targets.getState().entries.flatMap(({ row, checkedAt }) => (checkedAt === null ? [] : [{ row, checkedAt }])),
  );
}

export async function refreshSnapshots(model: Model, target: string): Promise<void> {
  const { snapshots, operations } = model;
  try {
    const listed = await operations.listSnapshots(quietly(AbortSignal.timeout(PATIENCE_MS)), target);
    snapshots.setState((state) => snapshotsListed(state, target, listed.snapshots));
  } catch (thrown) {
    snapshots.setState((state) => snapshotsFailed(state, target, toUserError(thrown)));
  }
}

/** After work on a target: what is listed anywhere is brought up to date. */
export async function refreshAfterWork(model: Model, target: string): Promise<void> {
  await Promise.all([refreshSnapshots(model, target), listTargets(model)]);
}

async function listTargets({ targets, operations }: Model): Promise<boolean> {
  try {
    const rows = await operations.listTargets(quietly(AbortSignal.timeout(PATIENCE_MS)));
    targets.setState((state) => targetsListed(state, rows));
    return true;
  } catch (thrown) {
    targets.setState((state) => targetsFailed(state, toUserError(thrown)));
    return false;
  }
}

async function checkTarget({ targets, operations, clock }: Model, name: string): Promise<void> {
  const now = () => clock().getTime();
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    const row = await Promise.race([operations.checkTarget(quietly(signal), name), rejectedBy(signal)]);
    targets.setState((state) => targetChecked(state, row, now()));
  } catch (thrown) {
    const reason = signal.aborted ? `no answer within ${formatDuration(PATIENCE_MS)}` : toUserError(thrown).message;
    targets.setState((state) => targetUnreachable(state, { name, reason, now: now() }));
  }
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
