import { readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Engine } from '../../engines/engine.ts';
import type { DumpFile, RestoredDump } from '../../engines/facets/dump-file.ts';
import type { OpenedPlace, ScratchPlace } from '../../engines/facets/sanitize.ts';
import { openDatabase } from '../../engines/open-database.ts';
import { freeBytesOf } from '../../engines/shared/disk-space.ts';
import type { DumpOrigin } from '../../results/manifest/dump-origin.ts';
import { fittingLine } from '../../results/manifest/git-state.ts';
import type { ImportResult } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { buildFrom } from '../build/build.ts';
import { recorded } from '../history/recorded.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { findTarget } from '../targets/find-target.ts';

export interface EngineDump {
  engine: Engine;
  dump: DumpFile;
}

interface DumpImport extends EngineDump {
  target: string;
}

/** Restores a dump into a throw-away server, and builds a snapshot of the target from it. Steps: `restore`, and those of a build. */
export async function importDump(context: Context, request: DumpImport): Promise<ImportResult> {
  const { target, dump } = request;
  return await recorded(
    context,
    { operation: 'import', target, from: dump.path, sanitized: false },
    { work: () => perform(context, request), facts: ({ id, size_bytes }) => ({ snapshot: id, size_bytes }) },
  );
}

async function perform(given: Context, request: DumpImport): Promise<ImportResult> {
  const { target, dump } = request;
  const places = await dumpPlaces(given, request);
  const origin = await originOf(dump);
  // Refused before the restore, which may take hours.
  await (await localRepository(given).stage())[Symbol.asyncDispose]();
  return await withinSpace(given, async (context) => {
    await using filled = await fillPlace(context, places, request);
    const database = openDatabase(context, filled.url);
    const build = { target, push: false, dump: origin };
    const { index: _, where: __, ...row } = await buildFrom(context, build, database);
    return { ...row, target, file: dump.path, left_out: filled.leftOut };
  });
}

/** Servers of their own, of the product of the dump where there are some: no other server may run what a dump has. */
export async function dumpPlaces(context: Context, { target, engine, dump }: DumpImport): Promise<ScratchPlace[]> {
  findTarget(context.configuration, target);
  const places = await engine.scratchPlaces(context, null);
  const own = places.filter(({ label }) => label.includes(dump.product));
  if (own.length > 0) return own;
  if (places.length > 0) return places;
  throw new UserError('no_place', `There is no server to restore the dump ${dump.path} into`, {
    hint: `Install the server programs of ${dump.product}, or set docker.images.${engine.id}.`,
  });
}

interface FilledPlace extends RestoredDump, AsyncDisposable {}

/** Fills the first place that has what the dump needs. */
async function fillPlace(context: Context, places: ScratchPlace[], request: DumpImport): Promise<FilledPlace> {
  for (const [index, place] of places.entries()) {
    try {
      return await fill(context, place, request);
    } catch (error) {
      const isLast = index === places.length - 1;
      if (isLast || !(error instanceof UserError && LACKS.has(error.code))) throw error;
      const message = `Skipped ${place.label}: ${error.message}`;
      context.report({ event: 'warning', code: 'place_passed_over', message });
    }
  }
  throw new Error('no place was given');
}

/** Codes of errors for what a server lacks, and the next place may have. */
const LACKS = new Set([
  'extension_missing',
  'server_missing',
  'server_not_started',
  'container_not_started',
  'image_unavailable',
]);

async function fill(context: Context, place: ScratchPlace, { dump }: DumpImport): Promise<FilledPlace> {
  const opened: OpenedPlace = await place.open(context);
  try {
    const restored = await openDatabase(context, opened.url).restore.restoreDump(dump);
    return { ...restored, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

async function originOf({ path, format, server_version }: DumpFile): Promise<DumpOrigin> {
  return { file: fittingLine(basename(path)) ?? '', format, server_version, ...(await sizeOf(path)) };
}

/** Files of a folder whose sizes are read at the same time. */
const AT_ONCE = 16;

/** Size and last change of a file, or of all files of a folder. */
export async function sizeOf(path: string): Promise<Pick<DumpOrigin, 'bytes' | 'modified_at'>> {
  const whole = await stat(path);
  const names = whole.isDirectory() ? await readdir(path) : [];
  const files = await mapWithConcurrency(names, AT_ONCE, (name) => stat(join(path, name)));
  const all = whole.isDirectory() ? files : [whole];
  return {
    bytes: all.reduce((sum, { size }) => sum + size, 0),
    modified_at: new Date(Math.max(whole.mtimeMs, ...all.map(({ mtimeMs }) => mtimeMs))).toISOString(),
  };
}

const LEAST_FREE_BYTES = 512 * 1024 * 1024;
const LOOK_EVERY_MS = 1000;

/** Ends the work before the disk of temporary files is full: a small dump may create any number of rows. */
export async function withinSpace<Result>(
  context: Context,
  work: (context: Context) => Promise<Result>,
  leastFreeBytes = LEAST_FREE_BYTES,
): Promise<Result> {
  const stopping = new AbortController();
  const look = async (): Promise<void> => {
    const free = await freeBytesOf(tmpdir());
    if (free !== null && free < leastFreeBytes) stopping.abort(tooLarge());
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  try {
    await look();
    const signal = AbortSignal.any([context.signal, stopping.signal]);
    signal.throwIfAborted();
    return await work({ ...context, signal });
  } catch (error) {
    if (stopping.signal.aborted) throw stopping.signal.reason;
    throw error;
  } finally {
    clearInterval(timer);
  }
}

function tooLarge(): UserError {
  return new UserError('space_short', `The disk of ${tmpdir()} has less than 512 MB free`, {
    hint: 'Nothing was stored. Free space, or set TMPDIR to a folder on a larger disk.',
  });
}
