import type { Database } from '../../engines/open-database.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { ChangesResult } from '../../results/review/changes-results.ts';
import type { RowsDiff } from '../../results/review/diff-results.ts';
import type { RowReadSummary } from '../../results/row-reading.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { withStep } from '../../runtime/events.ts';
import { shell } from '../../text/shell-word.ts';
import { assertNewFile } from '../assert-new-file.ts';
import { openBranch } from '../branch/open-branch.ts';
import { openBranches } from '../branch/open-branches.ts';
import { readEvidence, rowReading } from '../build/evidence.ts';
import { cpusFor } from '../cpus-for.ts';
import { WHOLE_DATABASE } from '../save/saves.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { MOST_ROWS } from '../snapshots/rows/rows.ts';
import { assertNoOriginalData } from '../snapshots/sanitized-only.ts';
import { manifestOf, storeDump } from '../snapshots/store-dump.ts';
import { findBase, originOf } from './base.ts';
import { statesByBase } from './base-states.ts';
import {
  type ComparedStates,
  compareStates,
  compareTable,
  type ShownTable,
  type ShownTables,
} from './compare-states.ts';
import { type MadeSql, makeSql, writeSql } from './write-sql.ts';

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
}

const DEFAULT_ROWS = 10;

/** Compares a destination, or a branch of it, with an earlier state. Changes nothing in it. Steps: `connect`, `dump`, `compare`, `sql`. */
export function readChanges(given: Context, request: ChangesRequest): Promise<ChangesResult> {
  return withChanges(given, request, async ({ result }) => result);
}

/** A comparison whose two states can still be read. */
export interface OpenChanges {
  result: ChangesResult;
  /** Rows of one table; `null` where they were not compared. */
  readTable(shown: ShownTable, signal: AbortSignal): Promise<RowsDiff | null>;
  /** Statements that make the changes again, as text, or in the file where they have more bytes than `most`. */
  makeSql(options: { file: string; most: number }): Promise<MadeSql>;
}

/** Keeps both states while `use` runs, then removes what was stored for them. Steps: as of `readChanges`. */
export async function withChanges<Result>(
  given: Context,
  request: ChangesRequest,
  use: (opened: OpenChanges) => Promise<Result>,
): Promise<Result> {
  const { target, branch: name } = request;
  await assertRequest(request);
  return withStates(given, request, async ({ context, database, states, since, reading }) => {
    const { url } = database;
    const step = { step: 'compare', label: 'Compare with the earlier state', done: 'Compared with the earlier state' };
    const { rows, values, ...compared } = await withStep(context.report, step, () =>
      compareStates(context, states, shownBy(request)),
    );
    const ofSql = { database, manifest: states.after };
    const sql = await sqlOf(context, request, (file) => writeSql(compared, { ...ofSql, rows, values }, file));
    const result: ChangesResult = {
      ...{ target, ...(name !== undefined && { branch: name }), destination: url.display, since },
      ...compared,
      ...(sql && { sql }),
      ...(reading && { reading }),
    };
    return use({
      result,
      readTable: (shown, signal) =>
        compareTable({ ...context, signal: AbortSignal.any([context.signal, signal]) }, states, shown),
      async makeSql(options) {
        const again = await compareStates(context, states, { target, limit: 0, reveal: false, keeps: true });
        return makeSql(again, { ...ofSql, rows: again.rows, values: again.values }, options);
      },
    });
  });
}

export interface OpenStates extends Pick<PresentState, 'reading'> {
  context: Context;
  database: Database;
  states: ComparedStates;
  since: ChangesResult['since'];
}

/** Reads the present state, for the work alone, and finds the earlier one. Steps: `connect`, `dump`. */
export async function withStates<Result>(
  given: Context,
  request: Pick<ChangesRequest, 'target' | 'since' | 'branch' | 'owner'>,
  work: (opened: OpenStates) => Promise<Result>,
): Promise<Result> {
  const { context, database, destination = null, loaded } = await openChanged(given, request);
  const { url } = database;
  const { manifest: before, since } = await findBase(context, request, loaded);
  if (before.engine !== url.engine) throw engineDiffers(request.target, before.engine, url.display);
  const known = since.kind === 'load' ? await statesByBase(database, { loaded: before, destination }) : null;
  if (known) return work({ context, database, states: known, since, reading: undefined });
  return withPresentState(context, { ...request, database, base: before }, ({ manifest: after, reading }) =>
    work({ context, database, states: { before, after }, since, reading }),
  );
}

function shownBy({ target, tables, limit = DEFAULT_ROWS, reveal = false, sql }: ChangesRequest): ShownTables {
  return { target, limit, reveal, keeps: sql !== undefined, ...(tables && { tables }) };
}

async function assertRequest({ limit = DEFAULT_ROWS, reveal, sql }: ChangesRequest): Promise<void> {
  if (limit < 1 || limit > MOST_ROWS) throw limitInvalid(limit);
  if (sql === undefined) return;
  if (!reveal) throw sqlReveals();
  await assertNewFile(sql);
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
  /** Given for a branch of it. */
  destination?: string | null;
  /** The id of the snapshot or save of the last load; throws where none is known. */
  loaded: () => Promise<string>;
}

async function openChanged(given: Context, request: ChangesRequest): Promise<ChangedDatabase> {
  const { target, branch: name } = request;
  if (name === undefined) {
    const opened = await openBranches(given, request);
    const { context, database } = opened;
    return { ...opened, loaded: () => originOf(context, { target, url: database.url }) };
  }
  const { context, database, branch, destination } = await openBranch(given, { ...request, branch: name });
  await assertNoOriginalData(context, target, branch.snapshot);
  return {
    context,
    database,
    destination: destination.url.database,
    async loaded() {
      if (branch.snapshot !== null) return branch.snapshot;
      throw new UserError('load_unknown', `The snapshot of branch "${name}" is unknown`, {
        hint: `Name the state to compare with: ${shell`tool changes ${target} --branch ${name} --since SNAPSHOT`}`,
      });
    },
  };
}

interface PresentRequest extends Pick<ChangesRequest, 'target' | 'branch'> {
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
  { target, branch, database, base }: PresentRequest,
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
      isDestination: true,
      cpus: cpusFor(context, target),
    });
    const manifest: Manifest = {
      ...manifestOf(database.engine.id, stored),
      ...{ target, created_at: context.clock().toISOString(), sanitized: false, note: null },
    };
    return work({ manifest, reading: stored.reading && rowReading(stored.reading, last.why) });
  });
}

function engineDiffers(target: string, engine: string, destination: string): UserError {
  return new UserError('engine_differs', `A snapshot of ${engine} cannot be compared with ${destination}`, {
    hint: `Name another one: ${shell`tool changes ${target} --since SNAPSHOT`}`,
  });
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
