import type { Operations } from '../../../screens/app/operations.ts';
import { listSettings } from '../../../src/config/schema/list-settings.ts';
import type { SnapshotRequest } from '../../../src/operations/snapshots/snapshots.ts';
import type { SnapshotLocation, SnapshotRow, TargetRow, VerifyResult } from '../../../src/results/results.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import type { RunContext } from '../../../src/state/runs.ts';
import { fakeComparison } from './fake-changes.ts';
import { fakeConfiguration } from './fake-configuration.ts';
import { fakePlannedWork, planAndApply, working } from './fake-planned-work.ts';
import { fakeReview, fakeSuggestion } from './fake-sanitize.ts';
import { type FakeWorld, findSnapshot } from './fake-world.ts';
import { unlessAborted } from './unless-aborted.ts';

/** Operations without databases, over a world that the test can look at and change. */
export function fakeOperations(world: FakeWorld, work = fakePlannedWork(world)): Operations {
  const snapshotsOf = (target: string) => world.snapshots[target] ?? [];
  const counted = (row: TargetRow): TargetRow => ({
    ...row,
    snapshots: snapshotsOf(row.name).length || row.snapshots,
    last_snapshot_at: snapshotsOf(row.name)[0]?.created_at ?? row.last_snapshot_at,
  });
  const find = (target: string, id: unknown) => findSnapshot(world, target, id);
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
    ...planAndApply(work),
    ...fakeComparison(world),
    listBranches: async (_session, { target = '' }) => ({
      branches: world.branches.map((branch) => ({ target, ...branch })),
      errors: [],
    }),
    listServers: async () => ({ servers: world.servers }),
    serverUrl: (url) => (world.ownServers.has(url) ? url.replace('@', ':secret@') : null),
    endServers: async () => void world.done.push('end servers'),
    listPoints: async (_session, { target }) => ({ target, destination: world.destination.url, points: world.points }),
    keepTrust: (edit) => edit(),
    trust: async ({ file }) => {
      world.done.push(`trust ${file}`);
    },
    listSettings: async () => listSettings(),
    listTargetsAfterRun: async () => world.targets.map(counted),
    refreshTargets: async ({ signal }, { listed, take }) => {
      const rows = await listed(world.targets.map(counted), world.hub);
      const answering = rows.filter(({ name }) => world.checks[name]);
      for (const row of answering) take({ ...row, ...world.checks[row.name] });
      if (answering.length === rows.length) return;
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
    withContents: async (_session, row) => row,
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
    listHistory: async (_session, { target } = {}) => ({
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
    withSuggestion: async (_session, { target }, use) => {
      world.done.push(`open the suggestion of ${target}`);
      await use(fakeSuggestion());
      world.done.push(`close the suggestion of ${target}`);
    },
    reviewLedger: async () => fakeReview(),
    answerItem: async (_session, { target, name, entry, replaces }) => {
      if (world.failLedger) throw world.failLedger;
      const shown = world.done.findLast((line) => line.startsWith(`classify ${target}: ${name} `));
      if (!(shown ?? 'open').includes(replaces.state)) throw new Error(`${name} was not ${replaces.state}`);
      world.done.push(`classify ${target}: ${name} ${entry.state}${entry.reason ? `: ${entry.reason}` : ''}`);
      return '/home/ada/sanitize.lock.yml';
    },
    verify: async (_session, { target, snapshot }) => verified(target, find(target, snapshot)),
    verifyRestore: async (_session, { target, snapshot }) => ({
      ...verified(target, find(target, snapshot)),
      restore: { place: 'a throw-away server', duration_ms: 2100 },
    }),
    saveSubset: async (_session, { target, choices }) => {
      world.done.push(`save ${target}: ${JSON.stringify(choices)}`);
      return { file: '/home/ada/tool.yml' };
    },
    includeAllSchemas: async (_session, { target }) => {
      world.done.push(`include all schemas of ${target}`);
      return { file: '/home/ada/tool.yml' };
    },
    listProviders: async () => world.providers.map((name) => ({ name, provider_url: `https://${name}.example.com` })),
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
        ...{ key: ['id'], added: 1, removed: 0, changed: 1 },
        samples: [
          { change: 'added', values: ['3', reveal ? 'ann@example.com' : '***'] },
          { change: 'before', values: ['1', null] },
          { change: 'after', values: ['1', reveal ? 'bob@example.com' : '***'], changed_columns: ['email'] },
        ],
      },
    }),
    readRows: async (_session, { target, snapshot, table, reveal = false, skip = 0 }) => ({
      target,
      snapshot: find(target, snapshot),
      table,
      columns: [
        { name: 'id', personal: null, masked: false },
        { name: 'email', personal: 'e-mail address', masked: !reveal },
        { name: 'note', personal: null, masked: false },
      ],
      key: ['id'],
      rows: [
        ['1', reveal ? 'ann@example.com' : '***', null],
        ['2', null, `red \u001b[2J 漢字 ${'x'.repeat(300)}`],
        ['3', reveal ? 'bob@example.com' : '***', 'NULL'],
        ['4', reveal ? '' : '***', ''],
      ],
      cut: [],
      ...(skip > 0 && { skipped: skip }),
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
    findProjectDatabase: async () => world.project,
    listDatabases: async () => [
      { name: 'shop', size_bytes: 61_400_000 },
      { name: '漢字 🚀', size_bytes: null },
    ],
    trySource: async ({ signal }, url) => {
      await unlessAborted(world.gate, signal);
      if (url.includes('away')) throw new UserError('unreachable', 'connection refused');
      if (world.lacksPrograms && !url.startsWith('pgdocker:'))
        throw new UserError('tools_missing', 'No client programs');
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
      committed: world.committed,
      inGit: setUp.inGit ?? null,
      secretKey: '',
    }),
    ...fakeConfiguration(world),
    applySetUp: async ({ text }) => {
      world.done.push(`set up ${text}`);
    },
  };
}

function withoutPassword(url: string): string {
  return url.replace(/:[^:@/]*@/, '@');
}

function verified(target: string, snapshot: SnapshotRow): VerifyResult {
  return { target, snapshot, ok: true, files: 30, bytes: 48_300_000, problems: [], repaired: [], lost: [] };
}
