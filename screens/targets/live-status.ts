import type { TargetRow } from '../../src/results/results.ts';
import { contentsRead, sizesRead, snapshotsKey, type TargetEntry, targetsChecked } from '../../src/state/targets.ts';
import { isRefreshing } from '../app/lists/refresh.ts';
import { type Model, quietly } from '../app/model.ts';

const EVERY_MS = 15_000;

/**
 * Checks the rows in view every 15 seconds, one round after the other, until the returned function is called. A round
 * is left out while all targets are being checked. The number of connections is limited where they are opened.
 */
export function watchStatus(model: Model, everyMs = EVERY_MS): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  let timer = setTimeout(next, everyMs);
  function next(): void {
    void checkInView(model, signal).finally(() => {
      if (!signal.aborted) timer = setTimeout(next, everyMs);
    });
  }
  return () => {
    controller.abort(new Error('the targets are no longer in view'));
    clearTimeout(timer);
  };
}

async function checkInView(model: Model, signal: AbortSignal): Promise<void> {
  const { targets, operations, clock } = model;
  const rows = entriesInView(model).map(({ row }) => asListed(row));
  if (rows.length === 0 || isRefreshing(model)) return;
  const found = new Map<string, TargetRow>();
  // Results arrive at once: each drawing delays the keys. A failed round says nothing of the targets.
  await operations.checkTargets(quietly(signal), { rows, take: (row) => found.set(row.name, row) }).catch(() => {});
  // A check of all targets that began meanwhile is newer.
  if (!signal.aborted && !isRefreshing(model))
    targets.setState((state) => targetsChecked(state, found, clock().getTime()));
}

/** Reads the sizes of snapshots that the rows in view lack. */
export async function readSizes(model: Model, asked: Set<string>): Promise<void> {
  const { targets, operations } = model;
  const { sizes } = targets.getState();
  const lacking = entriesInView(model).filter(({ row }) => {
    const isNew = !asked.has(askedKey(row)) && sizes.get(row.name)?.of !== snapshotsKey(row);
    return isNew && row.snapshots > 1 && row.type !== 'cloud';
  });
  if (lacking.length === 0) return;
  for (const { row } of lacking) asked.add(askedKey(row));
  const names = lacking.map(({ row }) => row.name);
  // The list is complete without them.
  const read = await operations.listSizes(quietly(AbortSignal.timeout(READ_MS)), names).catch(() => new Map());
  const known = lacking.map(
    ({ row }) => [row.name, { of: snapshotsKey(row), sizes: read.get(row.name) ?? [] }] as const,
  );
  targets.setState((state) => sizesRead(state, new Map(known)));
}

const READ_MS = 10_000;

/** A selection that moves on sooner asks no server. */
const SELECTED_FOR_MS = 250;

/** Reads what the destination of a target holds, unless the returned function is called before. */
export function readContents({ targets, operations }: Model, name: string): () => void {
  const controller = new AbortController();
  const read = async (): Promise<void> => {
    const entry = targets.getState().entries.find(({ row }) => row.name === name);
    if (!entry) return;
    const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(READ_MS)]);
    // Without it the target has no such fact.
    const found = await operations.withContents(quietly(signal), entry.row).catch(() => null);
    if (found && !controller.signal.aborted) targets.setState((state) => contentsRead(state, found));
  };
  const timer = setTimeout(() => void read(), SELECTED_FOR_MS);
  return () => {
    controller.abort(new Error('another target is selected'));
    clearTimeout(timer);
  };
}

function askedKey(row: TargetRow): string {
  return `${row.name}\n${snapshotsKey(row)}`;
}

/** Headings are not in the store. */
function entriesInView({ targets, viewport }: Model): TargetEntry[] {
  const names = new Set(viewport.keys);
  return targets.getState().entries.filter(({ row }) => names.has(row.name));
}

/** A status other than that of a target that is not shared is from an earlier check. */
function asListed(row: TargetRow): TargetRow {
  return row.error_code === 'not_shared' ? row : { ...row, status: 'unchecked' };
}
