/**
 * `npm run bench -- estimates [MEGABYTES]… [--output FILE]`: the time left that is shown at half of a run, beside the
 * true one, of builds, loads, transfers and subsets (default: 3 and 100 MB), each twice; and the steps as expected and as
 * they were. --output: the recorded events, for test/state.
 */
import { appendFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openCommandContext } from '../../src/cli/open-context.ts';
import { buildOperation } from '../../src/operations/build/operation.ts';
import { transferSteps } from '../../src/operations/expected-steps.ts';
import { withEarlierTimes } from '../../src/operations/history/earlier-times.ts';
import { loadOperation } from '../../src/operations/load/operation.ts';
import type { Operation } from '../../src/operations/operation.ts';
import type { Planned } from '../../src/operations/planned.ts';
import { resetOperation } from '../../src/operations/reset/operation.ts';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { pull } from '../../src/operations/snapshots/transfer/pull.ts';
import { push } from '../../src/operations/snapshots/transfer/push.ts';
import { subsetOperation } from '../../src/operations/subset/operation.ts';
import type { RunEvent } from '../../src/results/events.ts';
import type { Context } from '../../src/runtime/context.ts';
import { type ExpectedStep, overallProgress } from '../../src/state/overall-progress.ts';
import { foldRun, startRun } from '../../src/state/run.ts';
import { benchData } from '../helpers/databases/bench-data.ts';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { printTable } from '../helpers/terminal/measured-run.ts';

interface RecordedRun {
  name: string;
  ms: number;
  expected: ExpectedStep[];
  events: [number, RunEvent][];
}

const { values, positionals } = parseArgs({ options: { output: { type: 'string' } }, allowPositionals: true });
const sizes = positionals.length > 0 ? positionals.map(Number) : [3, 100];
const runs: RecordedRun[] = [];

for (const megabytes of sizes) {
  await using server = await openPostgresBench(benchData({ megabytes, tables: megabytes < 10 ? 18 : 30 }));
  const url = (database: string): string => JSON.stringify(server.url(database));
  const target = `snapshot: { src_url: ${url('bench')}, dst_url: ${url('copy')} }`;
  const query = "UPDATE account SET email = 'user' || id || '@example.invalid', name = 'Person ' || id";
  const elsewhere = join(server.folder, 'elsewhere.yml');
  const configuration = (work: string): string => `secret_key: ${'ab'.repeat(16)}
working_directory: ${join(server.folder, work)}
defaults: { cpus: 2 }
saves: { before: [] }
storage_profiles: { shelf: { provider: folder, path: ${join(server.folder, 'shelf')} } }
targets:
  bench: { ${target}, storage_profile: shelf }
  safe: { ${target}, sanitize: { dst_url: ${url('clean')}, override_query: "${query}" } }
  small: { ${target}, subset: { src_url: ${url('bench')}, dst_url: ${url('few')}, subset_tables: [{ table: public.event, percent: 10 }] } }
`;
  await mkdir(join(server.folder, 'shelf'));
  await writeFile(server.config, configuration('work'), { mode: 0o600 });
  await writeFile(elsewhere, configuration('elsewhere'), { mode: 0o600 });
  const open = (report: Context['report'] = () => {}, config = server.config): Promise<Context> =>
    openCommandContext({
      config,
      environment: process.env,
      cwd: server.folder,
      clock: () => new Date(),
      report,
      signal: new AbortController().signal,
    });
  const record = async (
    name: string,
    expected: ExpectedStep[],
    { work, config }: { work: (context: Context) => Promise<unknown>; config?: string },
  ): Promise<void> => {
    const events: RecordedRun['events'] = [];
    const started = performance.now();
    const at = (): number => Math.round(performance.now() - started);
    const context = await open((event) => void events.push([at(), event]), config);
    await work(context);
    runs.push({ name: `${megabytes} MB: ${name}`, ms: at(), expected, events: thinned(events) });
  };
  const run = async <Request, P extends Planned<Request, unknown>, Result>(
    name: string,
    operation: Operation<Request, P, Result>,
    request: NoInfer<Request>,
  ): Promise<void> => {
    const { plan, apply } = await operation.work();
    const planned = await plan(await open(), request);
    const steps = operation.steps?.(planned.plan) ?? [];
    const alike = operation.alike?.(planned.plan);
    await record(name, alike ? withEarlierTimes(await open(), steps, alike) : steps, {
      work: (context) => apply(context, planned),
    });
  };
  for (const again of ['', ' again']) {
    await run(`build${again}`, buildOperation, { target: 'bench', push: false, full: true });
    const { snapshots } = await listSnapshots(await open(), 'bench');
    const [snapshot] = snapshots;
    if (!snapshot) throw new Error('nothing was built');
    const of = { target: 'bench', snapshot: snapshot.id };
    await run(`load${again}`, loadOperation, { target: 'bench' });
    await run(`load --keep-base${again}`, loadOperation, { target: 'bench', keepBase: true, full: true });
    await run(`reset --copy${again}`, resetOperation, { target: 'bench', copy: true });
    await record(`push${again}`, transferSteps('push', snapshot), {
      work: (context) => push(context, of),
    });
    await record(`pull${again}`, transferSteps('pull', snapshot), {
      work: (context) => pull(context, of),
      config: elsewhere,
    });
    await run(`build and sanitize${again}`, buildOperation, { target: 'safe' });
    await run(`subset${again}`, subsetOperation, { target: 'small' });
  }
}

/** Ten events of a step and a second are enough. */
function thinned(events: RecordedRun['events']): RecordedRun['events'] {
  let last = Number.NEGATIVE_INFINITY;
  return events.filter(([at, { event }]) => {
    if (event === 'step') return true;
    if (event !== 'progress' || at - last < 100) return false;
    last = at;
    return true;
  });
}

/** The state at a time of the run. */
function stateAt({ expected, events }: RecordedRun, time: number) {
  return events
    .filter(([at]) => at <= time)
    .reduce((state, [at, event]) => foldRun(state, event, at), startRun(0, expected));
}

const LEAST_MS = 2000;
const rated = runs.filter(({ ms }) => ms >= LEAST_MS);
const factors = rated.map((run) => (overallProgress(stateAt(run, run.ms / 2), run.ms / 2).leftMs ?? 0) / (run.ms / 2));
printTable([
  ['', 'seconds', 'left at half, s', 'shown, s', 'factor'],
  ...rated.map(({ name, ms }, at) => [
    name,
    (ms / 1000).toFixed(1),
    (ms / 2000).toFixed(1),
    (((factors[at] ?? 0) * ms) / 2000).toFixed(1),
    (factors[at] ?? 0).toFixed(2),
  ]),
]);
const good = factors.filter((factor) => factor >= 1 / 1.5 && factor <= 1.5).length;
console.log(`Within a factor of 1.5: ${good} of ${rated.length} runs of at least 2 s (to reach: 9 of 10)`);
for (const run of runs) {
  console.log(`\n${run.name}, ${run.ms} ms`);
  printTable([
    ['', 'expected, ms', 'took, ms'],
    ...overallProgress(stateAt(run, run.ms), run.ms).steps.map(({ label, begun, expectedMs }) => [
      label,
      expectedMs === null ? '' : expectedMs.toFixed(0),
      begun ? `${(begun.endedAt ?? run.ms) - begun.startedAt}` : 'not begun',
    ]),
  ]);
}
if (values.output) for (const run of runs) appendFileSync(values.output, `${JSON.stringify(run)}\n`);
