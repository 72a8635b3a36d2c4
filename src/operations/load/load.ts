import { access } from 'node:fs/promises';
import { connectionUrl } from '../../config/connection-url.ts';
import type { Context } from '../../context.ts';
import type { DatabaseUrl, Engine } from '../../engines/engine.ts';
import { engineForUrl } from '../../engines/registry.ts';
import { EXIT, UserError } from '../../errors.ts';
import type { LoadPlan, LoadResult } from '../../results.ts';
import { bytesOfTable, filesOfTable, type Manifest } from '../../snapshots/manifest.ts';
import { createObjectPool } from '../../snapshots/objects/object-pool.ts';
import { missingHere } from '../../snapshots/transfer.ts';
import { jobsFor } from '../build.ts';
import { findTarget } from '../find-target.ts';
import { refuseUnshared } from '../sign-in/sharing.ts';
import { pullFiles } from '../snapshots/pull.ts';
import { snapshotReader } from '../snapshots/snapshot-reader.ts';
import { findSnapshot, repositoryOf, type SnapshotSelector } from '../snapshots/snapshots.ts';
import { chooseTables, namesOf, withinPlan } from './choose-tables.ts';
import { chooseDestination } from './destination.ts';
import { refuseSources } from './guard.ts';
import { loadSteps, swapSteps } from './load-steps.ts';

export interface LoadRequest {
  target: string;
  /** Default 0. Ignored with `file`. */
  snapshot?: SnapshotSelector;
  /** Takes the original where a sanitized one would be taken. */
  original?: boolean;
  /** Only these tables, and those that they need; the others are made without rows. */
  tables?: string[];
  /** A `.sql` file to run instead of a snapshot. */
  file?: string;
  /** With `file`: on the database as it is. */
  noDrop?: boolean;
  /** With `file`: on the source database. */
  source?: boolean;
  /** Connection URL that wins over every configured destination. */
  destdb?: string;
  /** `false` keeps no copy of what is replaced. Default `true`. */
  undo?: boolean;
  inPlace?: boolean;
  cpus?: number;
}

/** A plan to be shown and asked about; `plan` is printable, `apply` does it and is called by `load`. */
export interface PlannedLoad {
  plan: LoadPlan;
  request: LoadRequest;
  apply: (context: Context) => Promise<LoadResult>;
}

/** Looks at snapshot and destination, changes nothing. Throws when a guard refuses or the pre-flight fails. */
export async function planLoad(context: Context, request: LoadRequest): Promise<PlannedLoad> {
  await refuseUnshared(context, request.target);
  return request.file === undefined
    ? planSnapshot(context, request)
    : planFile(context, { ...request, file: request.file });
}

/** Does what was planned. Steps: `prepare`, `restore`, `index`, `check`, `swap`. */
export async function load(context: Context, planned: PlannedLoad): Promise<LoadResult> {
  for (const { code, message } of planned.plan.warnings) context.report({ event: 'warning', code, message });
  return planned.apply(context);
}

async function planSnapshot(context: Context, request: LoadRequest): Promise<PlannedLoad> {
  const { configuration } = context;
  const found = await findSnapshot(context, request);
  const { manifest, row, local, shelf } = found;
  const { text, chosenBy } = chooseDestination(configuration, request);
  const engine = engineForUrl(text);
  const url = engine.parseUrl(text);
  refuseOtherEngine(engine, manifest, url);
  await refuseSources(context, url);
  const schemaConfig = findTarget(configuration, request.target).snapshot?.schema_config;
  const wanted = request.tables;
  const selected = wanted ? await chooseTables(context, { found, engine, url, wanted }) : null;
  const restoration = {
    url,
    manifest,
    schemaConfig,
    inPlace: request.inPlace ?? false,
    ...(selected && { only: namesOf(selected) }),
  };
  const restore = await engine.planRestore(context, restoration);
  const selection = selected && withinPlan(selected, restore, manifest);
  const undo = (request.undo ?? true) && restore.strategy === 'swap' && restore.destination.exists;
  const jobs = request.cpus ?? jobsFor(context, request.target);
  const size_bytes = restore.tables.reduce((sum, table) => sum + bytesOfTable(table), 0);
  const files = [...restore.tables.flatMap(filesOfTable), ...manifest.files];
  const lacking = local ? [] : await missingHere(repositoryOf(context), files);
  const plan: LoadPlan = {
    target: request.target,
    snapshot: row,
    file: null,
    destination: restore.destination,
    chosen_by: chosenBy,
    strategy: restore.strategy,
    strategy_reason: restore.strategyReason,
    undo,
    schemas: restore.schemas,
    tables: restore.tables.length,
    rows: restore.tables.reduce((sum, table) => sum + table.rows, 0),
    size_bytes,
    selection,
    jobs,
    steps: loadSteps({ lacking, shelf, restore, undo }),
    warnings: restore.warnings.map(({ code, message }) => ({ code, message })),
  };
  return {
    plan,
    request,
    async apply(running) {
      const repository = repositoryOf(running);
      await using staging = await repository.stage();
      if (!local && shelf) {
        const keep = restore.tables.length === manifest.tables.length;
        await pullFiles(running, { manifest, shelf, files, keep });
      }
      const pool = createObjectPool(jobs + 1);
      await using _closing = { [Symbol.asyncDispose]: () => pool.close() };
      const { swapMs, undoDatabase } = await engine.restore(running, {
        ...restoration,
        plan: restore,
        jobs,
        undo,
        directory: await staging.folder('restore'),
        read: snapshotReader({ manifest, repository, pool, signal: running.signal }),
      });
      const { snapshot, destination, tables, rows } = plan;
      return {
        snapshot,
        destination: destination.url,
        tables,
        rows,
        size_bytes,
        selection,
        swap_ms: swapMs,
        undo_database: undoDatabase,
      };
    },
  };
}

async function planFile(context: Context, request: LoadRequest & { file: string }): Promise<PlannedLoad> {
  const { file } = request;
  await access(file).catch((cause) => {
    throw new UserError(`Cannot read ${file}`, {
      code: 'file_missing',
      exit: EXIT.usage,
      hint: 'Is the path right?',
      cause,
    });
  });
  const { text, chosenBy } = request.source
    ? sourceOf(context, request.target)
    : chooseDestination(context.configuration, request);
  const engine = engineForUrl(text);
  const url = engine.parseUrl(text);
  if (!request.source) await refuseSources(context, url);
  const destination = await engine.inspect(context, url);
  const asItIs = (request.noDrop ?? false) || (request.source ?? false);
  const undo = !asItIs && (request.undo ?? true) && destination.exists;
  const where = destination.url;
  const plan: LoadPlan = {
    target: request.target,
    snapshot: null,
    file,
    destination,
    chosen_by: chosenBy,
    strategy: asItIs ? 'script' : 'swap',
    strategy_reason: asItIs
      ? `the file runs on the ${request.source ? 'source' : 'destination'} as it is (${request.source ? '--source' : '--no-drop'})`
      : 'the destination stays as it is until the file has run in a new database',
    undo,
    schemas: [],
    tables: 0,
    rows: 0,
    size_bytes: 0,
    selection: null,
    jobs: 1,
    steps: asItIs
      ? [
          `Run ${file} on ${where}${engine.scriptsRollBack ? ' in one transaction' : ', where a failure undoes nothing'}`,
        ]
      : [`Run ${file} in a new database beside ${where}`, ...swapSteps(destination.exists, undo)],
    warnings: [],
  };
  return {
    plan,
    request,
    async apply(running) {
      await using staging = await repositoryOf(running).stage();
      const directory = await staging.folder('script');
      const { swapMs, undoDatabase } = await engine.runScript(running, { url, file, asItIs, undo, directory });
      return {
        snapshot: null,
        destination: where,
        tables: 0,
        rows: 0,
        size_bytes: 0,
        selection: null,
        swap_ms: swapMs,
        undo_database: undoDatabase,
      };
    },
  };
}

function sourceOf({ configuration }: Context, target: string): { text: string; chosenBy: string } {
  const key = `targets.${target}.snapshot.src_url`;
  const text = connectionUrl(configuration, key);
  if (text !== undefined) return { text, chosenBy: `${key} (--source)` };
  throw new UserError(`Target "${target}" has no source to run a file on`, {
    code: 'source_missing',
    exit: EXIT.configuration,
    hint: `Set ${key} in the configuration.`,
  });
}

function refuseOtherEngine(engine: Engine, manifest: Manifest, url: DatabaseUrl): void {
  if (engine.id === manifest.engine) return;
  throw new UserError(`A snapshot of ${manifest.engine} cannot be loaded into ${url.display}`, {
    code: 'engine_differs',
    exit: EXIT.failed,
    hint: `Choose a ${manifest.engine} destination: dst_url in the configuration, or --destdb.`,
  });
}
