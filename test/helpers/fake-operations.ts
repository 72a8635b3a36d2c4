import type { Operations } from '../../screens/app/operations.ts';
import type { SnapshotRequest } from '../../src/operations/snapshots/snapshots.ts';
import { keptBy } from '../../src/repository/keep-policy.ts';
import type { LoadDifference, LoadPlan, LoadResult } from '../../src/results/load-results.ts';
import type { SnapshotLocation, SnapshotRow, TargetRow } from '../../src/results/results.ts';
import type { TableSelection } from '../../src/results/selected-tables.ts';
import { UserError } from '../../src/runtime/errors.ts';
import type { RunContext } from '../../src/state/runs.ts';
import { fakeBranches } from './fake-branches.ts';
import { fakeConfiguration } from './fake-configuration.ts';
import { fakeCoverage, fakeSanitize, fakeSuggestion } from './fake-sanitize.ts';
import { fakePlannedSubset } from './fake-subset.ts';
import { type FakeWorld, fakeSnapshot } from './fake-world.ts';
import { unlessAborted } from './unless-aborted.ts';

const PLANNED_AT = '2026-11-21T03:00:00.000Z';

/** Operations without databases, over a world that the test can look at and change. */
export function fakeOperations(world: FakeWorld): Operations {
  const snapshotsOf = (target: string) => world.snapshots[target] ?? [];
  const counted = (row: TargetRow): TargetRow => ({
    ...row,
    snapshots: snapshotsOf(row.name).length || row.snapshots,
    last_snapshot_at: snapshotsOf(row.name)[0]?.created_at ?? row.last_snapshot_at,
  });
  const find = (target: string, id: unknown) => {
    const found = snapshotsOf(target).find((row) => id === undefined || row.id === id);
    if (!found) throw new UserError(`${target} has no snapshot ${String(id)}`, { code: 'no_snapshot', exit: 2 });
    return found;
  };
  const result = (snapshot: SnapshotRow | null, selection: TableSelection | null = null): LoadResult => ({
    snapshot,
    destination: world.destination.url,
    tables: 25,
    rows: 200_123,
    size_bytes: 48_300_000,
    selection,
    swap_ms: 130,
    undo_database: 'app_dev_before',
  });
  const transfer = async (
    session: RunContext,
    { target, snapshot, from }: SnapshotRequest & { from: SnapshotLocation },
  ) => {
    await working(session, world, { step: 'transfer', label: 'Copy what is lacking', command: 'copy' });
    const row: SnapshotRow = { ...find(target, snapshot), where: ['local', 'remote'] };
    world.snapshots[target] = snapshotsOf(target).map((other) => (other.id === row.id ? row : other));
    world.done.push(`${from === 'local' ? 'push' : 'pull'} ${target} ${row.id}`);
    return { target, snapshot: row, storage: 's3://snapshots/shop', objects: 27, bytes: 6_100_000 };
  };
  return {
    ...fakeBranches(world),
    keepTrust: (edit) => edit(),
    trust: async ({ file }) => {
      world.done.push(`trust ${file}`);
    },
    listTargets: async () => world.targets.map(counted),
    refreshTargets: async ({ signal }, { listed, take }) => {
      const rows = await listed(world.targets.map(counted), world.hub);
      const answering = rows.filter(({ name }) => world.checks[name]);
      for (const row of answering) take({ ...row, ...world.checks[row.name] });
      if (answering.length === rows.length) return;
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
    checkTargets: async (_session, { rows, take }) => {
      world.done.push(`check ${rows.map(({ name }) => name).join(' ')}`);
      for (const row of rows) take({ ...row, ...world.checks[row.name] });
    },
    listSizes: async (_session, targets) =>
      new Map(
        targets.map((name) => [
          name,
          snapshotsOf(name)
            .map(({ size_bytes }) => size_bytes)
            .toReversed(),
        ]),
      ),
    openClient: async (_session, { url }, run) => {
      if (world.failClient) throw world.failClient;
      return run({ file: 'psql', args: [url], env: { PGPASSWORD: 'secret' } });
    },
    listHistory: async (_session, { target }) => ({
      entries: world.history.filter((entry) => target === undefined || entry.target === target),
      damaged_lines: 0,
    }),
    listSnapshots: async (_session, target) => ({ target, snapshots: snapshotsOf(target) }),
    localDiskUse: async (_session, target) =>
      snapshotsOf(target).reduce((sum, { stored_bytes }) => sum + stored_bytes, 0),
    annotate: async (_session, { target, snapshot, note, addTags = [], removeTags = [], pinned }) => {
      const { pinned: wasPinned, tags = [], ...rest } = find(target, snapshot);
      const kept = [...new Set([...tags, ...addTags])].filter((tag) => !removeTags.includes(tag));
      const row: SnapshotRow = {
        ...rest,
        ...(note !== undefined && { note: note || null }),
        ...((pinned ?? wasPinned) && { pinned: true as const }),
        ...(kept.length > 0 && { tags: kept }),
      };
      world.snapshots[target] = snapshotsOf(target).map((other) => (other.id === row.id ? row : other));
      if (note !== undefined) world.done.push(`note ${target}: ${note}`);
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
    planBuild: async (_session, { target }) =>
      world.queryFile === null ? null : fakeSanitize(world, { target, snapshot: null }),
    planSanitize: async (_session, { target, snapshot }) => {
      if (world.noQuery) throw new UserError(`Target "${target}" has no query`, { code: 'query_missing', exit: 3 });
      return fakeSanitize(world, { target, snapshot: find(target, snapshot) });
    },
    withSuggestion: async (_session, { target }, use) => {
      world.done.push(`open the suggestion of ${target}`);
      await use(fakeSuggestion());
      world.done.push(`close the suggestion of ${target}`);
    },
    planQuerySave: async (_session, request) => {
      const { target, query } = request;
      const configuration = { file: '/home/ada/tool.yml', key: `targets.${target}.sanitize.query_file` };
      return {
        request,
        plan: {
          ...{ target, file: `/home/ada/${target}.sanitize.sql`, exists: false, before: '', after: query },
          configuration: { ...configuration, value: `./${target}.sanitize.sql` },
        },
        planned_at: PLANNED_AT,
      };
    },
    applyQuerySave: async (_session, { plan: { file, after } }) => {
      world.done.push(`write ${file}: ${after.split('\n').filter((line) => !line.startsWith('--')).length} lines`);
      return { file };
    },
    applySanitize: async (session, { plan: { target, snapshot } }) => {
      await working(session, world, { step: 'query', label: 'Run 3 statements', command: 'psql app_clean' });
      world.done.push(`sanitize ${target}`);
      const original = snapshot ?? fakeSnapshot();
      return {
        original,
        snapshot: fakeSnapshot({ id: 'sanitized', sanitized: true, sanitized_of: original.id }),
        destination: null,
        statements: 3,
        coverage: fakeCoverage(),
        swap_ms: null,
        undo_database: null,
      };
    },
    planLoad: async (_session, request) => ({
      request,
      plan: {
        ...plan(world, find(request.target, request.snapshot)),
        selection: request.tables ? fakeSelection(request.tables) : null,
        ...(world.base?.snapshot === find(request.target, request.snapshot).id && { reset_instead: true as const }),
        ...(world.base && { difference: fakeDifference(request.full ?? false) }),
      },
      planned_at: PLANNED_AT,
      restore: null,
    }),
    applyLoad: async (session, planned) => {
      await working(session, world, { step: 'restore', label: 'Restore 25 tables', command: 'pg_restore -j2' });
      if (world.failLoad) throw world.failLoad;
      const { target, snapshot, selection } = planned.plan;
      world.done.push(['load', target, ...(selection?.chosen ?? [])].join(' '));
      return result(snapshot, selection);
    },
    verify: async (_session, { target, snapshot }) => ({
      target,
      snapshot: find(target, snapshot),
      ok: true,
      files: 30,
      bytes: 48_300_000,
      problems: [],
      repaired: [],
      lost: [],
    }),
    planRemove: async (_session, request) => ({
      request,
      plan: {
        target: request.target,
        snapshot: find(request.target, request.snapshot),
        from: ['local'],
        frees_bytes: 1_200_000,
      },
      planned_at: PLANNED_AT,
    }),
    applyRemove: async (_session, { plan: { target, snapshot } }) => {
      world.snapshots[target] = snapshotsOf(target).filter(({ id }) => id !== snapshot.id);
      world.done.push(`remove ${target} ${snapshot.id}`);
    },
    planPrune: async (_session, request) => {
      const { target = 'app', remove: ids, keep: rules } = request;
      const kept = keptBy(rules, snapshotsOf(target), new Date('2026-11-22T03:00:00.000Z'));
      const isGone = (row: SnapshotRow) => (ids ? ids.includes(row.id) : !kept.has(row));
      const { remove = [], keep = [] } = Object.groupBy(snapshotsOf(target), (row) =>
        isGone(row) ? 'remove' : 'keep',
      );
      const planned = { target, keep, remove, from: ['local' as const], frees_bytes: 2_400_000 };
      return { request, plan: { targets: [planned], frees_bytes: 2_400_000 }, planned_at: PLANNED_AT };
    },
    applyPrune: async (_session, { plan: { targets } }) => {
      for (const { target, remove } of targets) {
        const ids = remove.map(({ id }) => id);
        world.snapshots[target] = snapshotsOf(target).filter(({ id }) => !ids.includes(id));
        world.done.push(`remove ${target} ${ids.join(' ')}`);
      }
    },
    planUndo: async (_session, request) => ({
      request,
      plan: {
        target: request.target,
        destination: world.destination,
        undo_database: 'app_dev_before',
        unverified_sources: [],
        replaced_at: '2026-11-21T03:00:00.000Z',
        size_bytes: 59_000_000,
      },
      planned_at: PLANNED_AT,
    }),
    applyUndo: async (_session, { plan: { target } }) => {
      world.done.push(`undo ${target}`);
      return result(null);
    },
    planReset: async (_session, request) => {
      if (!world.base) throw new UserError('There is no base copy of app_dev', { code: 'no_base_copy', exit: 1 });
      return {
        request,
        plan: {
          target: request.target,
          destination: world.destination,
          base: world.base,
          from: 'base',
          undo: true,
          spare: false,
          needs_bytes: world.base.size_bytes,
          unverified_sources: [],
          steps: ['Copy app_dev.tool-base by its files', 'Swap the two by name'],
          warnings: [],
        },
        planned_at: PLANNED_AT,
      };
    },
    applyReset: async (_session, { plan: { target, base, from, destination } }) => {
      world.done.push(`reset ${target}`);
      return {
        ...{ target, destination: destination.url, snapshot: base.snapshot, loaded_at: base.loaded_at, from },
        ...{ size_bytes: base.size_bytes, swap_ms: 20, undo_database: 'app_dev.tool-undo', spare_database: null },
      };
    },
    planSubset: async (_session, request) => fakePlannedSubset(world, request),
    applySubset: async (session, { plan: { target, destination } }) => {
      await working(session, world, { step: 'copy', label: 'Copy the rows', command: 'psql app_small' });
      world.done.push(`subset ${target}`);
      return {
        ...{ target, destination: destination.url, seed: 1, rows: 620, proof: [], swap_ms: 9, undo_database: null },
        tables: [{ table: 'public.customer', rows: 50 }],
        snapshot: null,
      };
    },
    saveSubset: async (_session, { target, choices }) => {
      world.done.push(`save ${target}: ${JSON.stringify(choices)}`);
      return { file: '/home/ada/tool.yml' };
    },
    listProviders: async () => world.providers.map((name) => ({ name, provider_url: `https://${name}.example.com` })),
    listAudit: async (_session, { target = '' }) => {
      if (world.failAudit) throw world.failAudit;
      return { events: world.audit.filter((event) => event.target === target), more: false };
    },
    signIn: async ({ report, signal }, { provider = 'idp', device }) => {
      const url = `https://${provider}.example.com/${device ? 'device' : 'auth'}`;
      report({ event: 'sign_in', provider, url, user_code: device ? 'ABCD-EFGH' : null });
      await unlessAborted(world.gate, signal);
      if (world.failSignIn) throw world.failSignIn;
      return {
        provider,
        provider_url: `https://${provider}.example.com`,
        signed_in: true,
        subject: 'ann',
        name: 'ann@example.com',
        groups: ['developers', 'ops'],
        expires_at: '2026-11-21T06:00:00.000Z',
        refreshable: true,
        error: null,
      };
    },
    diffTable: async (_session, { target, a, b, table, reveal = false }) => ({
      ...{ target, table, from: find(target, a), to: find(target, b), rows_not_compared: null },
      definition: [
        { change: 'same', text: 'CREATE TABLE public.orders (' },
        { change: 'removed', text: '    total integer,' },
        { change: 'added', text: '    total numeric(10,2),' },
      ],
      rows: {
        columns: [
          { name: 'id', personal: null, masked: false },
          { name: 'email', personal: 'e-mail address', masked: !reveal },
        ],
        ...{ added: 1, removed: 0, changed: 1 },
        samples: [
          { change: 'added', values: ['3', reveal ? 'ann@example.com' : '***'] },
          { change: 'before', values: ['1', null] },
          { change: 'after', values: ['1', reveal ? 'bob@example.com' : '***'] },
        ],
      },
    }),
    readRows: async (_session, { target, snapshot, table, reveal = false }) => ({
      target,
      snapshot: find(target, snapshot),
      table,
      columns: [
        { name: 'id', personal: null, masked: false },
        { name: 'email', personal: 'e-mail address', masked: !reveal },
        { name: 'note', personal: null, masked: false },
      ],
      rows: [
        ['1', reveal ? 'ann@example.com' : '***', null],
        ['2', null, `red \u001b[2J 漢字 ${'x'.repeat(300)}`],
        ['3', reveal ? 'bob@example.com' : '***', 'NULL'],
        ['4', reveal ? '' : '***', ''],
      ],
      cut: [],
      total: 1200,
    }),
    listTables: async (_session, { target, snapshot }) => {
      find(target, snapshot);
      return [
        { table: 'public.orders', rows: 120_000, bytes: 32_000_000 },
        { table: 'public.order_items', rows: 78_000, bytes: 15_900_000 },
        { table: 'sales.漢字 🚀', rows: 2_123, bytes: 400_000 },
      ];
    },
    diff: async (_session, { target, a, b }) => ({
      target,
      from: find(target, a),
      to: b === undefined ? null : find(target, b),
      destination: b === undefined ? world.destination.url : null,
      changes: [
        {
          table: 'public.orders',
          change: 'changed',
          from: { rows: 119_000, bytes: 31_000_000 },
          to: { rows: 120_000, bytes: 32_000_000 },
        },
        { table: 'public.drafts', change: 'gone', from: { rows: 12, bytes: 900 }, to: null },
      ],
      unchanged: 23,
    }),
    push: (session, request) => transfer(session, { ...request, from: 'local' }),
    pull: (session, request) => transfer(session, { ...request, from: 'remote' }),
    export: async (session, { target, snapshot, file }) => {
      await working(session, world, { step: 'export', label: `Write ${file}`, command: 'zip' });
      world.done.push(`export ${target} ${file}`);
      return { target, snapshot: find(target, snapshot), file, bytes: 6_100_000 };
    },
    findEngines: async () => world.check.engines,
    listDatabases: async () => [
      { name: 'shop', size_bytes: 61_400_000 },
      { name: '漢字 🚀', size_bytes: null },
    ],
    trySource: async ({ signal }, url) => {
      await unlessAborted(world.gate, signal);
      if (url.includes('away')) throw new UserError('connection refused', { code: 'unreachable', exit: 4 });
      return {
        engine: 'postgres',
        display: withoutPassword(url),
        server_version: '15.18',
        size_bytes: 61_400_000,
        hasPassword: withoutPassword(url) !== url,
        schemas: [
          { name: 'public', size_bytes: 60_000_000 },
          { name: 'sales', size_bytes: 1_400_000 },
        ],
      };
    },
    tryDestination: async (_session, { destination }) => ({
      display: withoutPassword(destination),
      exists: false,
      size_bytes: null,
      hasPassword: withoutPassword(destination) !== destination,
    }),
    listCliProfiles: async () => ['team'],
    tryStorage: async (_session, { bucket }) => `s3://${bucket}`,
    planSetUp: async (setUp) => ({
      file: `/home/ada/${setUp.file}`,
      text: JSON.stringify(setUp),
      shown: `# the file\ntargets:\n  ${setUp.target}:\n`,
      variables: setUp.variables ? { [setUp.variables.source]: 'secret' } : {},
    }),
    ...fakeConfiguration(world),
    applySetUp: async ({ text }) => {
      world.done.push(`set up ${text}`);
    },
  };
}

/** What is asked for, with a table that it needs. */
function fakeSelection(chosen: string[]): TableSelection {
  return {
    chosen,
    needed: [{ table: 'public.customer', needed_by: chosen[0] ?? '', why: 'reference' }],
    empty: Array.from({ length: 24 - chosen.length }, (_, index) => `public.other_${index}`),
  };
}

function withoutPassword(url: string): string {
  return url.replace(/:[^:@/]*@/, '@');
}

async function working(
  { report, signal }: RunContext,
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
    sanitized: snapshot.sanitized,
    sanitized_reason: snapshot.sanitized ? 'the sanitized copy' : 'the target has no sanitization query',
    destination: world.destination,
    chosen_by: 'targets.app.snapshot.dst_url',
    strategy: 'swap',
    unverified_sources: [],
    strategy_reason: 'restored beside it and swapped by rename: the role may create databases',
    undo: true,
    schemas: snapshot.schemas,
    tables: snapshot.tables,
    rows: snapshot.rows,
    size_bytes: snapshot.size_bytes,
    selection: null,
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

function fakeDifference(full: boolean): LoadDifference {
  const base = { base: 'app_dev.tool-base', base_snapshot: 'snapshot-7' };
  if (full) return { method: 'full', reason: '--full was given', ...base, ...amounts(25, 0) };
  return { method: 'difference', reason: 'definitions are equal', ...base, ...amounts(1, 24) };
}

function amounts(tables: number, saved_tables: number) {
  return { tables, size_bytes: tables * 1_000_000, saved_tables, saved_bytes: saved_tables * 1_000_000 };
}
