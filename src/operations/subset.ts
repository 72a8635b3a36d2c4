import { connectionUrl } from '../config/connection-url.ts';
import type { Context } from '../context.ts';
import type { DatabaseUrl, Engine } from '../engines/engine.ts';
import { engineForUrl, subsetEngines } from '../engines/registry.ts';
import type { SubsetEngine, SubsetSource } from '../engines/subset.ts';
import { EXIT, UserError } from '../errors.ts';
import type { SnapshotRow, SubsetExplanation, SubsetPlanResult, SubsetResult } from '../results.ts';
import { type Collected, collect } from '../subset/collect.ts';
import { explainRow, type Link } from '../subset/explain.ts';
import { buildGraph, type SubsetSettings } from '../subset/graph.ts';
import { type Plan, planSubset as planTables } from '../subset/plan.ts';
import { build, jobsFor } from './build.ts';
import { findTarget } from './find-target.ts';
import { refuseSources } from './guard.ts';
import { repositoryOf } from './snapshots.ts';

export interface SubsetRequest {
  target: string;
  /** Chooses other rows for `percent`. Default 1. */
  seed?: number;
  /** Stores the subset as a snapshot of the target as well. */
  snapshot?: boolean;
  cpus?: number;
  /** `false` keeps no copy of what is replaced. Default `true`. */
  undo?: boolean;
}

const DEFAULT_SEED = 1;

/** A plan to be shown and asked about; `plan` is printable, `apply` does it and is called by `subset`. */
export interface PlannedSubset {
  plan: SubsetPlanResult;
  apply: (context: Context) => Promise<SubsetResult>;
}

/** Looks at source and destination, changes nothing. With `count` the rows are looked for as well, so that the plan tells how many come. */
export async function planSubset(
  context: Context,
  request: SubsetRequest,
  { count = false }: { count?: boolean } = {},
): Promise<PlannedSubset> {
  const setting = settingOf(context, request);
  const { engine, subset, destination: url } = setting;
  await refuseSources(context, url);
  const destination = await engine.inspect(context, url);
  await subset.checkDestination(context, url);
  const undo = (request.undo ?? true) && destination.exists;
  const seed = request.seed ?? DEFAULT_SEED;
  await using source = await subset.openSource(context, { url: setting.source, jobs: setting.jobs });
  const plan = planFor(source, setting.settings);
  const collected = count ? await collectRows(context, { source, plan, seed }) : null;
  return {
    plan: {
      target: request.target,
      source: setting.source.display,
      destination,
      seed,
      undo,
      tables: tableRows(plan, collected),
      circles: plan.circles,
      warnings: warningsOf(plan),
    },
    apply: (running) => make(running, { ...setting, request, seed, undo }),
  };
}

/** Does what was planned. Steps: `read`, `prepare`, `copy`, `index`, `finish`, `prove`, `swap`, and those of a build. */
export async function subset(context: Context, planned: PlannedSubset): Promise<SubsetResult> {
  for (const { code, message } of planned.plan.warnings) context.report({ event: 'warning', code, message });
  return planned.apply(context);
}

/** Why a row is in the subset: found out anew from the source, which therefore must be as it was. */
export async function explainSubset(
  context: Context,
  request: SubsetRequest & { row: string },
): Promise<SubsetExplanation> {
  const { subset: subsets, source: url, jobs, settings } = settingOf(context, request);
  const { table, key } = readRow(request.row);
  await using source = await subsets.openSource(context, { url, jobs });
  const plan = planFor(source, settings);
  const row = plan.graph.tables.has(table) ? await source.findRow(table, key.split(',')) : null;
  if (row === null) {
    throw new UserError(`The source has no row ${request.row}`, {
      code: 'row_unknown',
      exit: EXIT.usage,
      hint: 'Name it by its table and primary key: public.orders:17, and by several columns public.order_item:17,2',
    });
  }
  const seed = request.seed ?? DEFAULT_SEED;
  const collected = await collectRows(context, { source, plan, seed });
  const finder = await source.finder(plan.graph, seed);
  const links = await explainRow({ plan, finder, collected }, { table, row });
  const chain =
    links &&
    (await Promise.all(
      links.map(async (link) => ({
        table: link.table,
        key: await source.nameRow(link.table, link.row),
        why: whyOf(link, plan),
      })),
    ));
  return { target: request.target, row: { table, key }, chain };
}

interface Setting {
  engine: Engine;
  subset: SubsetEngine;
  source: DatabaseUrl;
  destination: DatabaseUrl;
  settings: SubsetSettings;
  jobs: number;
}

function settingOf(context: Context, { target: name, cpus }: SubsetRequest): Setting {
  const { configuration } = context;
  const settings = findTarget(configuration, name).subset;
  if (!settings) {
    throw new UserError(`Target "${name}" has no subset`, {
      code: 'subset_missing',
      exit: EXIT.configuration,
      hint: `Describe it in the configuration: targets.${name}.subset with src_url, dst_url and subset_tables.`,
    });
  }
  const [source, destination] = (['src_url', 'dst_url'] as const).map((field) => {
    const key = `targets.${name}.subset.${field}`;
    const text = connectionUrl(configuration, key);
    if (text !== undefined) return engineForUrl(text).parseUrl(text);
    throw new UserError(`The subset of target "${name}" has no ${field}`, {
      code: field === 'src_url' ? 'source_missing' : 'destination_missing',
      exit: EXIT.configuration,
      hint: `Set ${key} in the configuration.`,
    });
  }) as [DatabaseUrl, DatabaseUrl];
  const engine = engineForUrl(`${source.engine}://`);
  const subsets = subsetEngines[engine.id];
  if (!subsets || source.engine !== destination.engine) {
    throw new UserError(`No subset can be made of ${source.display} in ${destination.display}`, {
      code: 'subset_unsupported',
      exit: EXIT.failed,
      hint: 'Source and destination must be databases of one engine that makes subsets: PostgreSQL.',
    });
  }
  return { engine, subset: subsets, source, destination, settings, jobs: cpus ?? jobsFor(context, name) };
}

function planFor({ facts }: SubsetSource, settings: SubsetSettings): Plan {
  return planTables(buildGraph(facts, settings), settings);
}

interface Collecting {
  source: SubsetSource;
  plan: Plan;
  seed: number;
}

async function collectRows({ report }: Context, { source, plan, seed }: Collecting): Promise<Collected> {
  report({ event: 'step', step: 'read', state: 'started', label: 'Find the rows' });
  const collected = await collect(plan, await source.finder(plan.graph, seed));
  report({ event: 'step', step: 'read', state: 'done', label: 'Found the rows' });
  return collected;
}

interface Making extends Setting {
  request: SubsetRequest;
  seed: number;
  undo: boolean;
}

async function make(context: Context, making: Making): Promise<SubsetResult> {
  const { request, seed, undo, jobs, settings, destination } = making;
  const repository = repositoryOf(context);
  await using staging = await repository.stage();
  const made = await makeFrom(context, { ...making, directory: await staging.folder('subset') });
  const tables = [...made.rows].map(([table, rows]) => ({ table, rows })).sort((a, b) => (a.table < b.table ? -1 : 1));
  return {
    target: request.target,
    destination: destination.display,
    seed,
    tables,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    proof: made.proof,
    swap_ms: made.replaced.swapMs,
    undo_database: made.replaced.undoDatabase,
    snapshot: request.snapshot ? await store(context, request, jobs) : null,
  };

  /** The source is let go as soon as nothing more is read of it. */
  async function makeFrom(
    running: Context,
    { source: url, subset: subsets, directory }: Making & { directory: string },
  ) {
    await using source = await subsets.openSource(running, { url, jobs });
    const plan = planFor(source, settings);
    const collected = await collectRows(running, { source, plan, seed });
    return await source.make(running, { url: destination, plan, collected, jobs, undo, directory });
  }
}

/** The subset as a snapshot of the target, which load and all others then know. */
function store(context: Context, { target }: SubsetRequest, cpus: number): Promise<SnapshotRow> {
  const source = connectionUrl(context.configuration, `targets.${target}.subset.dst_url`);
  return build(context, { target, note: 'subset', cpus, ...(source !== undefined && { source }) });
}

function tableRows({ graph, rules, paths, nulled }: Plan, collected: Collected | null): SubsetPlanResult['tables'] {
  return [...graph.tables.values()].map(({ name, rows }) => {
    const rule = rules.get(name) ?? 'empty';
    const expected = rule === 'copy' ? rows : (collected?.taken.get(name)?.size ?? 0);
    return {
      table: name,
      rule,
      rows_now: rows,
      rows_expected: collected && expected,
      path: paths.get(name) ?? [],
      nulled: [...(nulled.get(name) ?? [])],
    };
  });
}

function warningsOf({ unindexed, rules }: Plan): SubsetPlanResult['warnings'] {
  const slow = unindexed.map(({ from, columns }) => ({
    code: 'reference_without_index',
    message: `No index finds rows of ${from} by ${columns.join(', ')}, so the table is read whole. This would help: CREATE INDEX ON ${quoted(from)} (${columns.map(quotedName).join(', ')});`,
  }));
  const empty = [...rules].filter(([, rule]) => rule === 'empty').map(([table]) => table);
  if (empty.length === 0) return slow;
  const message = `Nothing leads to ${empty.join(', ')}: created empty. To have their rows, add them to copy_tables.`;
  return [...slow, { code: 'table_not_reached', message }];
}

function quoted(table: string): string {
  const at = table.indexOf('.');
  return `${quotedName(table.slice(0, at))}.${quotedName(table.slice(at + 1))}`;
}

/** A name as it stands in SQL, with quotes only where they are needed. */
function quotedName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** `schema.table:key`, the key of several columns separated by commas. */
function readRow(text: string): { table: string; key: string } {
  const at = text.indexOf(':');
  if (at > 0) return { table: text.slice(0, at), key: text.slice(at + 1) };
  throw new UserError(`"${text}" names no row`, {
    code: 'row_unknown',
    exit: EXIT.usage,
    hint: 'Name it by its table and primary key: public.orders:17, and by several columns public.order_item:17,2',
  });
}

function whyOf({ table, by }: Link, { rules, settings }: Plan): string {
  if (by === null) {
    if (rules.get(table) === 'copy') return 'its table is in copy_tables';
    const rule = settings.subset_tables?.find((item) => item.table === table);
    return rule?.where === undefined ? `among the ${rule?.percent} percent of subset_tables` : `where ${rule.where}`;
  }
  const { name, columns } = by.relationship;
  return by.direction === 'refers'
    ? `refers by ${columns.join(', ')} (${name}) to`
    : `is referred to by ${columns.join(', ')} (${name}) of`;
}
