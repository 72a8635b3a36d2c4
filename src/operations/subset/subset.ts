import type { RestoringUser } from '../../engines/facets/restore.ts';
import type { SubsetSource } from '../../engines/facets/subset.ts';
import { openDatabase, openTunnel } from '../../engines/open-database.ts';
import type { SnapshotRow } from '../../results/results.ts';
import type { SubsetGraph, SubsetPlanResult, SubsetResult } from '../../results/subset-results.ts';
import type { Context } from '../../runtime/context.ts';
import type { CollectResult } from '../../subset/collect.ts';
import { graphOf } from '../../subset/diagram.ts';
import type { SubsetSettings } from '../../subset/graph.ts';
import type { Plan } from '../../subset/plan.ts';
import { boundedList } from '../../text/bounded-list.ts';
import { formatNumberOf } from '../../text/format.ts';
import { build } from '../build/build.ts';
import { recorded } from '../history/recorded.ts';
import { subsetDestination } from '../load/configured-destination.ts';
import { checkDestination } from '../load/destination.ts';
import { assertNotASource } from '../load/guard/guard.ts';
import { restoredBy } from '../load/restored-by.ts';
import { type Planned, planOutdated } from '../planned.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { statingOutcome } from '../stating-outcome.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';
import { subsetExpectedSteps } from './expected-steps.ts';
import {
  collectRows,
  DEFAULT_SEED,
  planFor,
  type SubsetContext,
  type SubsetRequest,
  settingOf,
  suggestedSettings,
} from './subset-setting.ts';

export interface PlannedSubset extends Planned<SubsetRequest, SubsetPlanResult> {
  settings: SubsetSettings;
  graph: SubsetGraph;
  restoredBy: RestoringUser;
}

/** Looks at source and destination, changes nothing. With `count` the rows are looked for as well, so that the plan tells how many come. */
export async function planSubset(given: Context, request: SubsetRequest): Promise<PlannedSubset> {
  const context = await withTargetUrls(given, request.target, { source: true });
  const setting = settingOf(context, request);
  const database = openDatabase(context, setting.destination);
  const unverified_sources = await assertNotASource(context, database.url, request);
  const destination = await database.connect.inspect();
  await database.subset.checkDestination();
  const undo = (request.undo ?? true) && destination.exists;
  const seed = request.seed ?? DEFAULT_SEED;
  await using source = await openDatabase(context, setting.source).subset.openSource(setting.cpus);
  const settings = request.suggest && !request.settings ? suggestedSettings(source, setting) : setting.settings;
  const plan = planFor(source, { ...setting, settings });
  const collected = request.count ? await collectRows(context, { source, plan, seed }) : null;
  const restorer = await database.restore.chooseRestorer({
    ...{ builtHere: true, neverInPlace: true, superuserObjects: source.superuserObjects },
    ...(request.allowSuperuser && { allowSuperuser: true }),
  });
  return {
    request,
    plan: {
      target: request.target,
      sanitized: null,
      sanitized_reason: 'its rows are those of the source, and no sanitization query runs on them',
      source: setting.source.display,
      destination,
      ...restoredBy(restorer),
      seed,
      undo,
      unverified_sources,
      tables: tableRows(plan, collected),
      circles: plan.circles,
      warnings: [...warningsOf(plan, source), ...source.warnings],
    },
    planned_at: context.clock().toISOString(),
    settings,
    graph: graphOf(request.target, plan),
    restoredBy: restorer,
  };
}

/** Does what was planned. Steps: `read`, `prepare`, `copy`, `large_objects`, `index`, `finish`, `prove`, `swap`, and those of a build. */
export function applySubset(given: Context, planned: PlannedSubset): Promise<SubsetResult> {
  const { target, source, destination, undo } = planned.plan;
  return recorded(
    given,
    { operation: 'subset', target, from: source, to: destination.url },
    {
      work: (timed) => statingOutcome(timed, { target, destination, undo }, (context) => perform(context, planned)),
      facts: ({ swap_ms, snapshot }) => ({ swap_ms, snapshot: snapshot?.id ?? null }),
      steps: () => subsetExpectedSteps(planned.plan),
    },
  );
}

async function perform(given: Context, planned: PlannedSubset): Promise<SubsetResult> {
  const { request, plan, settings } = planned;
  const context = await withTargetUrls(given, request.target, { source: true });
  const { seed, undo } = plan;
  const setting = { ...settingOf(context, request), settings };
  if (setting.source.display !== plan.source)
    throw planOutdated(`The source is ${setting.source.display}, no longer ${plan.source},`);
  await checkDestination(context, planned, setting.destination);
  for (const { code, message } of plan.warnings) context.report({ event: 'warning', code, message });
  const repository = localRepository(context);
  await using staging = await repository.stage();
  const directory = await staging.folder('subset');
  const made = await makeFrom(context, { ...setting, seed, undo, directory, restoredBy: planned.restoredBy });
  const tables = [...made.rows].map(([table, rows]) => ({ table, rows })).sort((a, b) => (a.table < b.table ? -1 : 1));
  return {
    target: request.target,
    destination: plan.destination.url,
    seed,
    tables,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    proof: made.references,
    swap_ms: made.replaced.swapMs,
    undo_database: made.replaced.undoDatabase,
    snapshot: request.snapshot ? await store(context, request, setting.cpus) : null,
  };
}

interface SubsetBuild extends SubsetContext {
  seed: number;
  undo: boolean;
  directory: string;
  restoredBy: RestoringUser;
}

/** The source is let go as soon as nothing more is read of it. */
async function makeFrom(context: Context, making: SubsetBuild) {
  const { cpus, seed, undo, directory, restoredBy } = making;
  const url = await openTunnel(context, making.destination);
  await using source = await openDatabase(context, making.source).subset.openSource(cpus);
  const plan = planFor(source, making);
  const collected = await collectRows(context, { source, plan, seed });
  return await source.make({ url, plan, collected, cpus, undo, directory, restoredBy });
}

/** The subset as a snapshot of the target, which load and all others then know. */
function store(context: Context, { target }: SubsetRequest, cpus: number): Promise<SnapshotRow> {
  const source = subsetDestination(context.configuration, target)?.text;
  return build(context, { target, note: 'subset', cpus, ...(source !== undefined && { source }) });
}

function tableRows({ graph, rules, paths, nulled }: Plan, collected: CollectResult | null): SubsetPlanResult['tables'] {
  return [...graph.tables.values()].map(({ name, rows, bytes }) => {
    const rule = rules.get(name) ?? 'empty';
    const expected = rule === 'copy' ? rows : (collected?.taken.get(name)?.size ?? 0);
    // Where the server's estimate lags behind there are more rows than it says.
    const share = expected === 0 ? 0 : Math.min(1, expected / rows);
    return {
      table: name,
      rule,
      rows_now: rows,
      rows_expected: collected && expected,
      bytes_now: bytes,
      bytes_expected: collected && Math.round(bytes * share),
      path: paths.get(name) ?? [],
      nulled: [...(nulled.get(name) ?? [])],
    };
  });
}

const NAMED_TABLES = 10;

function warningsOf({ unindexed, rules }: Plan, { createIndex }: SubsetSource): SubsetPlanResult['warnings'] {
  const slow = unindexed.map(({ from, columns }) => ({
    code: 'reference_without_index',
    message: `No index finds rows of ${from} by ${columns.join(', ')}, so the table is read whole. This would help: ${createIndex(from, columns)}`,
  }));
  const empty = [...rules].filter(([, rule]) => rule === 'empty').map(([table]) => table);
  if (empty.length === 0) return slow;
  const names = boundedList(empty, NAMED_TABLES);
  const those = empty.length === 1 ? `${names} is` : `${formatNumberOf(empty.length, 'table')} are`;
  const list = empty.length === 1 ? '' : `: ${names}`;
  const [were, them] = empty.length === 1 ? ['was', 'it'] : ['were', 'them'];
  const message = `${those} not reachable from the subset tables and ${were} created empty${list}. Add ${them} to copy_tables to include the rows`;
  return [...slow, { code: 'table_not_reached', message }];
}
