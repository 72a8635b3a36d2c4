import { join } from 'node:path';
import type { ImageFacet } from '../../engines/facets/image.ts';
import { openDatabase } from '../../engines/open-database.ts';
import { type ObjectToRead, readFrames } from '../../repository/objects/read-object.ts';
import type { Context } from '../../runtime/context.ts';
import { withStep } from '../../runtime/events.ts';
import { cpusFor } from '../cpus-for.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { snapshotReader } from '../snapshots/snapshot-reader.ts';
import { factsOf, type Image, type ImageKey, storeImage } from './images.ts';
import { createServer, removeServer } from './records.ts';

/** A thread would take 15 MB of memory, and the server needs longer for the rows than the program for reading them. */
const WITHOUT_THREAD = {
  async *read(object: ObjectToRead) {
    yield* readFrames(object);
  },
};

/**
 * Loads a snapshot, whose objects are on this machine, into a new server, and keeps the files of that. Steps: those of a
 * load, `image`.
 */
export async function makeImage(context: Context, facet: ImageFacet, wanted: ImageKey): Promise<Image> {
  const { target, manifest, database: name, programs } = wanted;
  const facts = { engine: manifest.engine, target, snapshot: manifest.id, database: name, detached: false };
  const { record, user } = await createServer(context, facts);
  // The last to be removed: what a killed run leaves is found by it.
  await using _server = { [Symbol.asyncDispose]: () => removeServer(context, record) };
  const repository = localRepository(context);
  await using staging = await repository.stage();
  const { directory } = record;
  const maker = await facet.make(context, { programs, directory, user, manifest, database: name });
  const database = openDatabase(context, maker.url);
  const { role } = maker;
  const restoration = { manifest, schemaConfig: { include_schemas: manifest.schemas }, inPlace: false, role };
  const plan = await database.restore.plan(restoration);
  const cpus = cpusFor(context, target);
  await database.restore.run({
    ...restoration,
    ...{ plan, cpus, undo: false, directory: await staging.folder('restore') },
    read: snapshotReader({ manifest, repository, pool: WITHOUT_THREAD, signal: context.signal }),
  });
  const step = {
    step: 'image',
    label: `Store the image of ${manifest.id}`,
    done: `Stored the image of ${manifest.id}`,
  };
  return await withStep(context.report, step, async () => {
    const unfinished = await staging.folder('image');
    const needs = await maker.finish(join(unfinished, 'data'));
    const created_at = context.clock().toISOString();
    const made = { format: 1, ...factsOf(wanted), created_at, ...needs } as const;
    return storeImage(context, unfinished, made);
  });
}
