import { type Database, openDatabase } from '../../engines/open-database.ts';
import { engineOf } from '../../engines/registry.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import { createObjectPool } from '../../repository/objects/object-pool.ts';
import type { Context } from '../../runtime/context.ts';
import { cpusFor } from '../cpus-for.ts';
import { choosePlaces, openPlace } from '../sanitize/sanitize-place.ts';
import { localRepository } from './local-repository.ts';
import { snapshotReader } from './snapshot-reader.ts';

export interface ScratchRequest {
  target: string;
  /** Its objects are on this machine. */
  manifest: Manifest;
  cpus?: number | undefined;
  /** Restores the content with the rights of the loading user. */
  allowSuperuser?: boolean | undefined;
}

/** A restored, verified database that is dropped when its use ends. */
export interface ScratchDatabase {
  database: Database;
  /** For people. */
  place: string;
  /** For files of the run. */
  directory: string;
}

/** Restores a snapshot into a throw-away database with all checks of a load. Steps: those of a restore. */
export async function inScratchDatabase<Result>(
  context: Context,
  { target, manifest, cpus: given, allowSuperuser: superuser = false }: ScratchRequest,
  use: (scratch: ScratchDatabase) => Promise<Result>,
): Promise<Result> {
  const places = await choosePlaces(context, { target, engine: engineOf(manifest.engine), ephemeral: true });
  const repository = localRepository(context);
  const cpus = given ?? cpusFor(context, target);
  await using opened = await openPlace(context, { places, manifest, superuser });
  await using staging = await repository.stage();
  const directory = await staging.folder('restore');
  await using pool = createObjectPool(cpus + 1);
  let used: { result: Result } | undefined;
  await opened.database.restore.run({
    ...opened.restoration,
    plan: opened.plan,
    cpus,
    undo: false,
    directory,
    read: snapshotReader({ manifest, repository, pool, signal: context.signal }),
    throwAway: true,
    async beforeSwap(url) {
      const database = openDatabase(context, url);
      used = { result: await use({ database, place: opened.place.label, directory }) };
    },
  });
  if (!used) throw new Error('the restore did not offer its database');
  return used.result;
}
