import type { RehearsalResult } from '../../../src/results/review/rehearsal-results.ts';
import type { FakePlannedWork } from './fake-planned-work.ts';
import type { FakeWorld } from './fake-world.ts';

const PLANNED_AT = '2026-11-21T03:00:00.000Z';
const TYPE = 'ALTER TABLE orders ALTER COLUMN amount TYPE numeric(12,2)';
const INDEX = 'CREATE INDEX orders_placed_at ON orders (placed_at)';
const UNIQUE = 'CREATE UNIQUE INDEX customer_email ON customer (email)';

const statement = (text: string, at_ms: number, duration_ms: number): RehearsalResult['statements'][number] => ({
  ...{ text, at_ms, duration_ms, session: 1, in_transaction: true, error: null },
});

/** A migration that blocks for 41 s, and fails on duplicate e-mails. */
export function fakeRehearsal(more: Partial<RehearsalResult> = {}): RehearsalResult {
  const orders = { table: 'public.orders', index: null, below_resolution: false };
  return {
    ...{ target: 'app', snapshot: '3f2a9c01', branch: 'rehearsal-1a2b3c4d', database: 'app_dev_rehearsal_1a2b3c4d' },
    ...{ kept: false, outcome: 'failed', duration_ms: 63_400, statements_left_out: 0 },
    problems: [
      { code: 'rehearsal_failed', message: 'npx prisma migrate deploy failed with exit code 1' },
      {
        code: 'rehearsal_over_limit',
        message: 'ACCESS EXCLUSIVE on public.orders was held for 57.3 s, longer than 2.0 s',
      },
    ],
    works: [
      {
        ...{ kind: 'command', run: 'npx prisma migrate deploy', exit: 1, failed: true, duration_ms: 63_400 },
        output:
          '3 migrations found\nERROR: could not create unique index "customer_email"\nDETAIL: Key (email)=(***) is duplicated.\n',
      },
    ],
    statements: [
      statement("SET lock_timeout = '5s'", 0, 0.4),
      statement(TYPE, 800, 41_200),
      statement('UPDATE orders SET amount = round(amount, 2) WHERE amount IS NOT NULL', 42_000, 6300),
      statement(INDEX, 48_300, 9800),
      {
        ...statement(UNIQUE, 58_100, 4900),
        error: {
          code: '23505',
          message: 'could not create unique index "customer_email"\nKey (email)=(***) is duplicated.',
        },
      },
    ],
    locks: [
      { ...orders, mode: 'ACCESS EXCLUSIVE', blocks: 'readers', at_ms: 801, held_ms: 57_300, statement: TYPE },
      { ...orders, mode: 'SHARE', blocks: 'writers', at_ms: 48_301, held_ms: 9800, statement: INDEX },
      {
        ...{ table: 'public.customer', index: null, mode: 'SHARE', blocks: 'writers', at_ms: 58_101, held_ms: 4900 },
        ...{ below_resolution: false, statement: UNIQUE },
      },
    ],
    rewrites: [
      { kind: 'table', name: 'public.orders', table: 'public.orders', bytes: 12_400_000_000 },
      { kind: 'index', name: 'public.orders_pkey', table: 'public.orders', bytes: 1_800_000_000 },
    ],
    ...{ rewritten_bytes: 14_200_000_000, wal_bytes: 21_000_000_000, growth_bytes: 3_100_000_000 },
    warnings: [
      {
        ...{ code: 'type_change_rewrites', table: 'public.orders', index: 1, statement: TYPE },
        text: 'The table and its indexes are rewritten; reads and writes wait meanwhile.',
        safer: 'Add a new column, fill it in batches, and switch to it.',
        url: 'https://www.postgresql.org/docs/current/sql-altertable.html',
      },
      {
        ...{ code: 'index_not_concurrent', table: 'public.orders', index: 3, statement: INDEX },
        text: 'Writes to the table wait until the index is built.',
        safer: 'CREATE INDEX CONCURRENTLY, outside of a transaction.',
        url: 'https://www.postgresql.org/docs/current/sql-createindex.html#SQL-CREATEINDEX-CONCURRENTLY',
      },
    ],
    definitions: [
      {
        ...{ name: 'public.orders (table)', change: 'changed' },
        diff: [
          { change: 'removed', text: '    amount real,' },
          { change: 'added', text: '    amount numeric(12,2),' },
        ],
      },
    ],
    rows: [{ table: 'public.order_audit', before: 0, after: 1_204_331 }],
    sampling: { interval_ms: 5, samples: 12_100, longest_gap_ms: 18 },
    ...more,
  };
}

/** Rehearses by showing the report of the world. */
export function fakeRehearse(world: FakeWorld): Pick<FakePlannedWork, 'rehearse'> {
  return {
    rehearse: {
      plan: async (_session, request) => {
        const { target, command, sql } = request;
        const run = Array.isArray(command) ? command.join(' ') : (command ?? sql ?? 'npm run migrate');
        const plan = {
          ...{ target, destination: world.destination, unverified_sources: [], base: world.base, load: null },
          ...{ existing: [], needs_bytes: 60_000_000, git_branch: 'main', warnings: [], keep: false, limits: {} },
          branches: [{ name: 'rehearsal-1a2b3c4d', database: 'app_dev_rehearsal_1a2b3c4d' }],
          works: [{ kind: sql === undefined ? ('command' as const) : ('sql_file' as const), run }],
          steps: [`Run ${run}`],
        };
        const request_ = { target, name: 'rehearsal-1a2b3c4d' };
        const planned = { planned_at: PLANNED_AT, load: null, origin: null, checkout: null };
        return { request, plan, planned_at: PLANNED_AT, place: { create: { ...planned, request: request_, plan } } };
      },
      apply: async (session, { plan, request: { server } }) => {
        const [{ run } = { run: '' }] = plan.works;
        world.done.push(`rehearse ${run}${server ? ' --server' : ''}`);
        session.report({ event: 'step', step: 'work', state: 'started', label: `Run ${run}` });
        await world.gate;
        session.report({ event: 'step', step: 'work', state: 'done', label: `Ran ${run}` });
        return world.rehearsal ?? fakeRehearsal();
      },
    },
  };
}
