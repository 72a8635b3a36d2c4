import type { Operations } from '../../screens/operations.ts';
import { UserError } from '../../src/errors.ts';
import type { DestinationState, LoadPlan, LoadResult, SnapshotRow, TargetRow } from '../../src/results.ts';
import type { Session } from '../../src/state/runs.ts';

/** A world that the fake operations act on; tests hold what they want to let go on by hand. */
export interface FakeWorld {
  targets: TargetRow[];
  /** What a check finds; a target without an entry never answers. */
  checks: Record<string, Partial<TargetRow>>;
  snapshots: Record<string, SnapshotRow[]>;
  destination: DestinationState;
  /** What the next load fails of. */
  failLoad: UserError | null;
  /** What the next sign-in fails of. */
  failSignIn: UserError | null;
  /** Resolves when work may end; the default lets it end at once. */
  gate: Promise<void>;
  done: string[];
}

export function fakeTarget(row: Partial<TargetRow> & { name: string }): TargetRow {
  return {
    title: row.name,
    type: 'local',
    engine: 'postgres',
    src_url: `postgres://app@localhost:5432/${row.name}`,
    dst_url: `postgres://app@localhost:5432/${row.name}_dev`,
    storage_profile: null,
    status: 'unchecked',
    latency_ms: null,
    server_version: null,
    size_bytes: null,
    snapshots: 0,
    error: null,
    ...row,
  };
}

export function fakeSnapshot(row: Partial<SnapshotRow> = {}): SnapshotRow {
  const index = row.index ?? 0;
  return {
    index,
    id: `snapshot-${index}`,
    created_at: '2026-11-21T04:00:00.000Z',
    sanitized: false,
    engine: 'postgres',
    server_version: '15.18',
    schemas: ['public', 'sales'],
    tables: 25,
    rows: 200_123,
    size_bytes: 48_300_000,
    stored_bytes: 6_100_000,
    where: ['local'],
    note: null,
    ...row,
  };
}

export function fakeWorld(world: Partial<FakeWorld> = {}): FakeWorld {
  return {
    targets: [fakeTarget({ name: 'app', title: 'The shop', snapshots: 1 })],
    checks: { app: { status: 'ok', latency_ms: 3, server_version: '15.18', size_bytes: 61_400_000 } },
    snapshots: { app: [fakeSnapshot()] },
    destination: {
      url: 'postgres://app@localhost:5432/app_dev',
      host: 'localhost',
      local: true,
      database: 'app_dev',
      exists: true,
      size_bytes: 60_000_000,
      connections: 2,
      server_version: '15.18',
    },
    failLoad: null,
    failSignIn: null,
    gate: Promise.resolve(),
    done: [],
    ...world,
  };
}

/** Operations without databases, over a world that the test can look at and change. */
export function fakeOperations(world: FakeWorld): Operations {
  const snapshotsOf = (target: string) => world.snapshots[target] ?? [];
  const find = (target: string, id: unknown) => {
    const found = snapshotsOf(target).find((row) => row.id === id);
    if (!found) throw new UserError(`${target} has no snapshot ${String(id)}`, { code: 'no_snapshot', exit: 2 });
    return found;
  };
  const result = (snapshot: SnapshotRow | null): LoadResult => ({
    snapshot,
    destination: world.destination.url,
    tables: 25,
    rows: 200_123,
    size_bytes: 48_300_000,
    swap_ms: 130,
    undo_database: 'app_dev_before',
  });
  return {
    listTargets: async () =>
      world.targets.map((row) => ({ ...row, snapshots: snapshotsOf(row.name).length || row.snapshots })),
    checkTarget: (_session, target) => {
      const row = world.targets.find(({ name }) => name === target);
      const found = world.checks[target];
      return row && found ? Promise.resolve({ ...row, ...found }) : new Promise(() => {});
    },
    listSnapshots: async (_session, target) => ({ target, snapshots: snapshotsOf(target) }),
    annotate: async (_session, { target, snapshot, note }) => {
      const row = { ...find(target, snapshot), note: note || null };
      world.snapshots[target] = snapshotsOf(target).map((other) => (other.id === row.id ? row : other));
      world.done.push(`note ${target}: ${note}`);
      return row;
    },
    build: async (session, { target }) => {
      session.report({ event: 'step', step: 'connect', state: 'started', label: `Connect to ${target}` });
      session.report({ event: 'step', step: 'connect', state: 'done', label: `Connect to ${target}` });
      await working(session, world, { step: 'dump', label: 'Dump 25 tables', command: 'pg_dump -Fd -j2 app' });
      const older = snapshotsOf(target).map((row) => ({ ...row, index: row.index + 1 }));
      const row = fakeSnapshot({ index: 0, id: `built-${older.length}` });
      world.snapshots[target] = [row, ...older];
      world.done.push(`build ${target}`);
      return row;
    },
    planLoad: async (_session, request) => ({
      request,
      plan: plan(world, find(request.target, request.snapshot)),
      apply: async () => result(null),
    }),
    load: async (session, planned) => {
      await working(session, world, { step: 'restore', label: 'Restore 25 tables', command: 'pg_restore -j2' });
      if (world.failLoad) throw world.failLoad;
      world.done.push(`load ${planned.plan.target}`);
      return result(planned.plan.snapshot);
    },
    verify: async (_session, { target, snapshot }) => ({
      target,
      snapshot: find(target, snapshot),
      ok: true,
      files: 30,
      bytes: 48_300_000,
      problems: [],
    }),
    planRemove: async (_session, { target, snapshot }) => ({
      target,
      snapshot: find(target, snapshot),
      from: ['local'],
      frees_bytes: 1_200_000,
    }),
    remove: async (_session, { target, snapshot }) => {
      world.snapshots[target] = snapshotsOf(target).filter(({ id }) => id !== snapshot.id);
      world.done.push(`remove ${target} ${snapshot.id}`);
    },
    planUndo: async (_session, { target }) => ({
      target,
      destination: world.destination,
      undo_database: 'app_dev_before',
      replaced_at: '2026-11-21T03:00:00.000Z',
      size_bytes: 59_000_000,
    }),
    undo: async (_session, { target }) => {
      world.done.push(`undo ${target}`);
      return result(null);
    },
    signIn: async ({ report, signal }, { device }) => {
      const url = `https://idp.example.com/${device ? 'device' : 'auth'}`;
      report({ event: 'sign_in', provider: 'idp', url, user_code: device ? 'ABCD-EFGH' : null });
      await unlessAborted(world.gate, signal);
      if (world.failSignIn) throw world.failSignIn;
      return {
        provider: 'idp',
        provider_url: 'https://idp.example.com',
        signed_in: true,
        subject: 'ann',
        name: 'ann@example.com',
        groups: ['developers', 'ops'],
        expires_at: '2026-11-21T06:00:00.000Z',
        refreshable: true,
        error: null,
      };
    },
  };
}

async function working(
  { report, signal }: Session,
  world: FakeWorld,
  { step, label, command }: { step: string; label: string; command: string },
): Promise<void> {
  report({ event: 'step', step, state: 'started', label });
  report({ event: 'command', command });
  report({ event: 'progress', step, done: 12_000_000, total: 48_000_000, unit: 'bytes', current: 'public.orders' });
  await unlessAborted(world.gate, signal);
  report({ event: 'step', step, state: 'done', label });
}

function plan(world: FakeWorld, snapshot: SnapshotRow): LoadPlan {
  return {
    target: 'app',
    snapshot,
    file: null,
    destination: world.destination,
    chosen_by: 'targets.app.snapshot.dst_url',
    strategy: 'swap',
    strategy_reason: 'restored beside it and swapped by rename: the role may create databases',
    undo: true,
    schemas: snapshot.schemas,
    tables: snapshot.tables,
    rows: snapshot.rows,
    size_bytes: snapshot.size_bytes,
    jobs: 2,
    steps: [
      'Create the database app_dev_load beside app_dev',
      'Restore 25 tables into it with 2 jobs',
      'Check rows, indexes, constraints and sequences against the manifest',
      'End 2 sessions and swap the two by rename',
    ],
    warnings: [{ code: 'sessions_open', message: '2 sessions are open on app_dev and will be ended' }],
  };
}

/** Waits for the gate; an abort ends the waiting. */
async function unlessAborted(gate: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  );
  await Promise.race([gate, aborted]);
}
