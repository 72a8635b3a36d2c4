import type { FileRequest } from '../../../src/config/config-file.ts';
import type { ProjectDatabase } from '../../../src/operations/configuration/project-database.ts';
import type { BranchRow } from '../../../src/results/branch-results.ts';
import type { HubState } from '../../../src/results/cloud-results.ts';
import type { CheckReport } from '../../../src/results/configuration/configuration-results.ts';
import type { DatabaseCopy } from '../../../src/results/database-copies.ts';
import type { HistoryEntry } from '../../../src/results/history-results.ts';
import type { AfterLoad, DestinationState } from '../../../src/results/load-results.ts';
import type { NameWithSize, SnapshotRow, TargetRow } from '../../../src/results/results.ts';
import type { RehearsalResult } from '../../../src/results/review/rehearsal-results.ts';
import type { ServerRow } from '../../../src/results/running-servers.ts';
import type { BackPoint } from '../../../src/results/saves/save-results.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { type FakeChanges, fakeChanges } from './fake-changes.ts';

/** A world that the fake operations act on; tests hold what they want to let go on by hand. */
export interface FakeWorld {
  targets: TargetRow[];
  /** What a check finds; a target without an entry never answers. */
  checks: Record<string, Partial<TargetRow>>;
  snapshots: Record<string, SnapshotRow[]>;
  destination: DestinationState;
  /** The base copy of every destination. */
  base: DatabaseCopy | null;
  /** Steps of the plan of a load. */
  afterLoad?: AfterLoad[];
  /** The branches of every target. */
  branches: BranchRow[];
  servers: ServerRow[];
  /** URLs of servers that this session has started. */
  ownServers: Set<string>;
  /** The report of every rehearsal; without one a migration that fails and blocks. */
  rehearsal?: RehearsalResult;
  /** States that every destination can return to. */
  points: BackPoint[];
  /** Changes in every destination, and what comparing it fails of. */
  changes: FakeChanges;
  failChanges: UserError | null;
  /** The file of the sanitization query of every target; without one nothing is sanitized. */
  queryFile: string | null;
  /** Whether sanitizing finds no query. */
  noQuery: boolean;
  /** What the next load fails of. */
  failLoad: UserError | null;
  /** The failure of writing the ledger. */
  failLedger: UserError | null;
  /** Identity providers of the configuration. */
  providers: string[];
  /** Why cloud targets are not those of the hub. */
  hub: HubState | null;
  /** Audit events of the hub, and what reading them fails of. */
  /** What opening a client fails of. */
  failClient: UserError | null;
  /** What was done earlier, newest first. */
  history: HistoryEntry[];
  /** What the next sign-in fails of. */
  failSignIn: UserError | null;
  /** The tables of every source. */
  tables: NameWithSize[];
  /** Client programs are in containers only. */
  lacksPrograms: boolean;
  lacksSubset: boolean;
  /** Git would commit the file of a first configuration. */
  committed: boolean;
  /** What asking a source for its names fails of. */
  failNames: UserError | null;
  /** Resolves when work may end; the default lets it end at once. */
  gate: Promise<void>;
  /** The database that the environment files of the folder name. */
  project: ProjectDatabase | null;
  /** What a check of the configuration finds. */
  check: CheckReport;
  /** Where the configuration is that is edited: a real file. */
  configuration: FileRequest;
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
    last_snapshot_at: null,
    error: null,
    error_code: null,
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
    signature: { state: 'valid', key: 'ed25519-11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=' },
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
    base: null,
    branches: [],
    servers: [],
    ownServers: new Set(),
    points: [],
    changes: fakeChanges(),
    failChanges: null,
    queryFile: null,
    noQuery: false,
    failLoad: null,
    failLedger: null,
    providers: ['idp'],
    hub: null,
    failClient: null,
    history: [],
    failSignIn: null,
    tables: [
      { name: 'public.customer', size_bytes: 60_000_000 },
      { name: 'sales.orders', size_bytes: 1_400_000 },
    ],
    lacksPrograms: false,
    lacksSubset: false,
    committed: false,
    failNames: null,
    gate: Promise.resolve(),
    project: null,
    check: {
      ok: false,
      file: '/home/ada/tool.yml',
      shadowed: null,
      mode: 'local',
      offline: false,
      problems: [
        {
          severity: 'error',
          code: 'storage_profile_not_found',
          key: 'targets.app.storage_profile',
          message: "storage profile 'buckt' not found",
          hint: 'Did you mean "bucket"?',
          file: '/home/ada/tool.yml',
          line: 14,
          column: 7,
        },
      ],
      plain_secrets: [],
      working_directory: { path: '/home/ada/.tool', ok: true, error: null },
      engines: [
        { id: 'postgres-local', ok: true, tools: [{ name: 'pg_dump', path: '/usr/bin/pg_dump', version: '15.18' }] },
        { id: 'mysql-local', ok: false, tools: [] },
      ],
      docker: null,
      sanitizing: [],
      keychain: { ok: false, reason: 'no service answers' },
      storage_profiles: [],
      cloud: null,
    },
    configuration: { environment: {}, cwd: '/nowhere' },
    done: [],
    ...world,
  };
}

export function findSnapshot(world: FakeWorld, target: string, id: unknown): SnapshotRow {
  const found = (world.snapshots[target] ?? []).find((row) => id === undefined || row.id === id);
  if (!found) throw new UserError('snapshot_missing', `${target} has no snapshot ${String(id)}`);
  return found;
}
