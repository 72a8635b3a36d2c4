import type { Database } from '../../engines/open-database.ts';
import { openDatabase } from '../../engines/open-database.ts';
import { findBranch } from '../../engines/shared/branches.ts';
import { ownFiles } from '../../engines/shared/stored-pairs.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import { createObjectPool, type ObjectPool } from '../../repository/objects/object-pool.ts';
import { chooseTables } from '../../repository/select-tables.ts';
import type { ChangedTable, ChangesResult } from '../../results/changes-results.ts';
import type { RowReadSummary } from '../../results/row-reading.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { withStep } from '../../runtime/events.ts';
import { assertNewFile } from '../assert-new-file.ts';
import { assertOwnBranches, openBranches } from '../branch/open-branches.ts';
import { readEvidence, rowReading } from '../build/evidence.ts';
import { cpusFor } from '../cpus-for.ts';
import { WHOLE_DATABASE } from '../save/saves.ts';
import {
  type ComparedRows,
  type ComparedSide,
  compareStored,
  readSide,
  shownDifference,
} from '../snapshots/diff/compare-stored.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { MOST_ROWS } from '../snapshots/rows.ts';
import { assertNoOriginalData } from '../snapshots/sanitized-only.ts';
import { manifestOf, storeDump } from '../snapshots/store-dump.ts';
import { type ChangesBase, findBase, originOf } from './base.ts';
import { type ComparedDefinitions, compareDefinitions } from './compare-definitions.ts';
import { writeSql } from './write-sql.ts';

export interface ChangesRequest {
  target: string;
  /** Name of a save, or a snapshot. Default: the last load. */
  since?: string;
  /** A branch of the destination instead of it. */
  branch?: string;
  /** The agent that makes the request: its own branches only. */
  owner?: string;
  /** Patterns of tables whose rows are shown; the others are counted. */
  tables?: string[];
  /** Rows of each kind of change and table. Default 10, at most 1000. */
  limit?: number;
  /** Values that look like personal data as they are. */
  reveal?: boolean;
  /** Absolute path of a file for the statements that make the changes again. */
  sql?: string;
  cpus?: number;
}

const DEFAULT_ROWS = 10;

/** Compares a destination, or a branch of it, with an earlier state. Changes nothing in it. Steps: `connect`, `dump`, `compare`, `sql`. */
export async function readChanges(given: Context, request: ChangesRequest): Promise<ChangesResult> {
  const { target, branch: name, limit = DEFAULT_ROWS } = request;
  if (limit < 1 || limit > MOST_ROWS) throw limitInvalid(limit);
  if (request.sql !== undefined) {
    if (!request.reveal) throw sqlReveals();
    await assertNewFile(request.sql);
  }
  return withPresent(given, request, async ({ context, database, base, manifest, reading }) => {
    const step = { step: 'compare', label: 'Compare with the earlier state', done: 'Compared with the earlier state' };
    const { rows, values, ...compared } = await withStep(context.report, step, () =>
      compare(context, { request, base, manifest }),
    );
    const sql = await sqlOf(context, request, (file) => writeSql(compared, { database, manifest, rows, values, file }));
    return {
      ...{ target, ...(name !== undefined && { branch: name }), destination: database.url.display, since: base.since },
      ...compared,
      ...(sql && { sql }),
      ...(reading && { reading }),
    };
  });
}

export interface PresentAndBase extends PresentState {
  context: Context;
  database: Database;
  base: ChangesBase;
}

/** Reads the present state, for the work alone, and finds the earlier one. Steps: `connect`, `dump`. */
export async function withPresent<Result>(
  given: Context,
  request: Omit<ChangesRequest, 'limit' | 'reveal' | 'sql'>,
  work: (states: PresentAndBase) => Promise<Result>,
): Promise<Result> {
  const { context, database, loaded } = await openChanged(given, request);
  const { url } = database;
  const base = await findBase(context, request, loaded);
  if (base.manifest.engine !== url.engine) {
    throw new UserError(
      'engine_differs',
      `A snapshot of ${base.manifest.engine} cannot be compared with ${url.display}`,
      {
        hint: `Name another one: tool changes ${request.target} --since SNAPSHOT`,
      },
    );
  }
  return withPresentState(context, { ...request, database, base: base.manifest }, (present) =>
    work({ context, database, base, ...present }),
  );
}

async function sqlOf(
  { report }: Context,
  { sql: file }: ChangesRequest,
  write: (file: string) => Promise<NonNullable<ChangesResult['sql']>>,
): Promise<ChangesResult['sql']> {
  if (file === undefined) return undefined;
  return withStep(report, { step: 'sql', label: `Write ${file}`, done: `Wrote ${file}` }, () => write(file));
}

interface ChangedDatabase {
  context: Context;
  database: Database;
  /** The id of the snapshot or save of the last load; throws where none is known. */
  loaded: () => string;
}

async function openChanged(given: Context, request: ChangesRequest): Promise<ChangedDatabase> {
  const { target, branch: name } = request;
  const opened = await openBranches(given, request);
  const { context, database } = opened;
  const { url, engine } = database;
  if (name === undefined) return { ...opened, loaded: () => originOf(context, { target, url: url.display }) };
  const branch = findBranch(await database.branches.list(), { name, url });
  assertOwnBranches([branch], request, opened);
  await assertNoOriginalData(context, target, branch.snapshot);
  return {
    context,
    database: openDatabase(context, engine.withDatabase(url, branch.database)),
    loaded() {
      if (branch.snapshot !== null) return branch.snapshot;
      throw new UserError('load_unknown', `The snapshot of branch "${name}" is unknown`, {
        hint: `Name the state to compare with: tool changes ${target} --branch ${name} --since SNAPSHOT`,
      });
    },
  };
}

interface PresentRequest extends Pick<ChangesRequest, 'target' | 'cpus' | 'branch'> {
  database: Database;
  base: Manifest;
}

interface PresentState {
  manifest: Manifest;
  reading: RowReadSummary | undefined;
}

/** Reads the database as a save does, for the work alone: its objects are removed, and no list has it. */
async function withPresentState<Result>(
  context: Context,
  { target, branch, cpus, database, base }: PresentRequest,
  work: (state: PresentState) => Promise<Result>,
): Promise<Result> {
  const repository = localRepository(context);
  const last = await readEvidence(context, { target, save: true });
  return repository.withScratch(async () => {
    const stored = await storeDump({
      ...{ database, repository, previous: base, copyOf: base, schemaConfig: WHOLE_DATABASE },
      // The evidence is about the destination.
      evidence: branch === undefined ? last.evidence : null,
      scratch: true,
      cpus: cpus ?? cpusFor(context, target),
    });
    const manifest: Manifest = {
      ...manifestOf(database.engine.id, stored),
      ...{ target, created_at: context.clock().toISOString(), sanitized: false, note: null },
    };
    return work({ manifest, reading: stored.reading && rowReading(stored.reading, last.why) });
  });
}

interface CompareRequest {
  request: ChangesRequest;
  base: ChangesBase;
  manifest: Manifest;
}

interface Comparison extends Pick<ChangesResult, 'tables' | 'unchanged'>, ComparedDefinitions {
  /** By table; with `sql` only. */
  rows: Map<string, ComparedRows>;
}

async function compare(context: Context, { request, base, manifest }: CompareRequest): Promise<Comparison> {
  const names = [...new Set([base.manifest, manifest].flatMap(({ tables }) => tables.map(({ name }) => name)))].sort();
  const text = { unknown: `${request.target} has no table`, hint: '' };
  const shown = new Set(request.tables ? chooseTables(request.tables, names, text) : []);
  await using pool = createObjectPool(2);
  const tables: ChangedTable[] = [];
  const rows = new Map<string, ComparedRows>();
  for (const name of names) {
    const { sides, changed } = await compareTable(context, { name, base: base.manifest, manifest, pool });
    const found = sides && changed && describeTable(sides, changed, { name, request, isShown: shown.has(name) });
    if (!found) continue;
    tables.push(found);
    if (request.sql !== undefined && typeof changed === 'object') rows.set(name, changed);
  }
  const compared = await compareDefinitions(context, { before: base.manifest, after: manifest, pool });
  return { tables, rows, unchanged: names.length - tables.length, ...compared };
}

interface TableComparison {
  name: string;
  base: Manifest;
  /** The present state. */
  manifest: Manifest;
  pool: ObjectPool;
}

/** `null` where both sides have the same objects. */
export async function compareTable(context: Context, comparison: TableComparison) {
  const sides = await sidesOf(context, comparison);
  return { sides, changed: sides && (await compareStored(context, sides.before, sides.after)) };
}

interface Sides {
  before: ComparedSide;
  after: ComparedSide;
}

async function sidesOf(context: Context, { name, base, manifest, pool }: TableComparison): Promise<Sides | null> {
  const [old = null, now = null] = [base, manifest].map(({ tables }) => tables.find((table) => table.name === name));
  if (old && now && ownFiles(old, now).length === 0 && ownFiles(now, old).length === 0) return null;
  return {
    before: await readSide(context, { manifest: base, table: name, pool }),
    after: await readSide(context, { manifest, table: name, pool }),
  };
}

/** `null` where all rows are equal. */
function describeTable(
  { before, after }: Sides,
  rows: Awaited<ReturnType<typeof compareStored>>,
  { name, request, isShown }: { name: string; request: ChangesRequest; isShown: boolean },
): ChangedTable | null {
  const change = before.table && after.table ? 'changed' : after.table ? 'added' : 'gone';
  if (typeof rows === 'string') {
    const [old = 0, now = 0] = [before.table?.rows, after.table?.rows];
    const counts = { added: old === 0 ? now : null, changed: null, removed: now === 0 ? old : null };
    return { table: name, change, ...counts, not_compared: rows };
  }
  if (change === 'changed' && isEqual(rows)) return null;
  const { limit = DEFAULT_ROWS, reveal = false } = request;
  const difference = shownDifference(rows, { table: name, limit: isShown ? limit : 0, reveal });
  const { added, changed, removed } = difference;
  return { table: name, change, added, changed, removed, ...(isShown && { rows: difference }) };
}

function isEqual({ counts: { added, changed, removed } }: ComparedRows): boolean {
  return added + changed + removed === 0;
}

function sqlReveals(): UserError {
  return new UserError('flag_needs_flag', '--sql writes all values, personal ones as well', {
    hint: 'Add --reveal. Nothing was written.',
  });
}

function limitInvalid(limit: number): UserError {
  return new UserError('usage', `--limit must be from 1 to ${MOST_ROWS}, not ${limit}`, {
    hint: `For example: --limit ${DEFAULT_ROWS}`,
  });
}
