import { profileOf } from '../../engines/list.ts';
import { engines } from '../../engines/registry.ts';
import { openArchive } from '../../repository/archive-file.ts';
import type { ImportPlan, ImportResult } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { assertReadable } from '../load/script/load-script.ts';
import { type Planned, planOutdated } from '../planned.ts';
import { type ImportRequest, importSnapshot } from '../snapshots/transfer/import.ts';
import { findTarget } from '../targets/find-target.ts';
import { dumpPlaces, type EngineDump, importDump, sizeOf } from './import-dump.ts';

export type PlannedImport = Planned<ImportRequest, ImportPlan>;

/** Recognises the file by its content: an exported snapshot, or a dump of the vendor's program. */
export async function planImport(context: Context, request: ImportRequest): Promise<PlannedImport> {
  const found = await findDump(request.file);
  const plan = found ? await planDump(context, request, found) : await planArchive(context, request);
  return { request, plan, planned_at: context.clock().toISOString() };
}

export async function applyImport(context: Context, { request, plan }: PlannedImport): Promise<ImportResult> {
  if (plan.format === 'snapshot') return importSnapshot(context, request);
  const found = await findDump(request.file);
  if (!found || (await sizeOf(request.file)).modified_at !== plan.modified_at) {
    throw planOutdated(`${request.file} has changed`);
  }
  return importDump(context, { ...found, target: plan.target });
}

async function findDump(file: string): Promise<EngineDump | null> {
  await assertReadable(file, 'file or folder');
  for (const engine of engines) {
    const dump = await engine.readDump(file);
    if (dump) return { engine, dump };
  }
  return null;
}

async function planArchive(context: Context, { file, target: given }: ImportRequest): Promise<ImportPlan> {
  await using archive = await openArchive(file);
  const { target: original, id: snapshot, engine, server_version } = archive.manifest;
  const target = given ?? original;
  findTarget(context.configuration, target);
  const [product] = profileOf(engine).products;
  return { file, target, format: 'snapshot', product, server_version, snapshot, place: null, ...(await sizeOf(file)) };
}

async function planDump(
  context: Context,
  { file, target }: ImportRequest,
  { engine, dump }: EngineDump,
): Promise<ImportPlan> {
  if (target === undefined) {
    throw new UserError('flag_needs_flag', `A dump requires --target: ${file} does not name one`, {
      exit: EXIT.usage,
      hint: 'tool import FILE --target TARGET',
    });
  }
  const [place] = await dumpPlaces(context, { target, engine, dump });
  const { format, product, server_version } = dump;
  const size = await sizeOf(file);
  return { file, target, format, product, server_version, snapshot: null, place: place?.label ?? null, ...size };
}
