import { rm } from 'node:fs/promises';
import type { DumpRequest, DumpSource } from '../../engines/facets/dump.ts';
import type { EngineId } from '../../engines/list.ts';
import type { Database } from '../../engines/open-database.ts';
import { type LocalRepository, newSnapshotId } from '../../repository/local-repository.ts';
import {
  bytesOfTable,
  filesOfTable,
  formatFor,
  type Manifest,
  type ManifestFile,
} from '../../repository/manifest/manifest.ts';
import { createObjectPool } from '../../repository/objects/object-pool.ts';
import type { ContentToPack, PackedContent, StoredObject } from '../../repository/objects/pack-object.ts';
import { UserError } from '../../runtime/errors.ts';
import { syncPath } from '../../runtime/write-file.ts';
import { readMigrations } from '../migrations/read-migrations.ts';

export interface StoringDump
  extends Pick<
    DumpRequest,
    | 'schemaConfig'
    | 'includeNeededSchemas'
    | 'excludeRows'
    | 'cpus'
    | 'copyOf'
    | 'program'
    | 'keepsStatistics'
    | 'isDestination'
  > {
  database: Pick<Database, 'dump'>;
  repository: LocalRepository;
  previous: Manifest | undefined;
  /** `DumpResult.evidence` of the last build, or `null`; absent where no later build compares with this one. */
  evidence?: unknown;
  /** No snapshot is made of it: stored objects need not be intact. */
  scratch?: boolean;
}

/** Dumps into a staging folder and moves each file into the objects as soon as it is packed. */
export async function storeDump({ database, repository, previous, evidence: last, scratch, ...request }: StoringDump) {
  await using staging = await repository.stage();
  const directory = await staging.folder('dump');
  const sizes = new Map(previous?.tables.map((table) => [table.name, bytesOfTable(table)]));
  await using pool = createObjectPool(request.cpus, {
    expectedBytes: [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0),
  });
  const before = storedBefore(repository, previous);
  let addedBytes = 0;
  const packContent = together((contents: ContentToPack[]) => pool.packContents(contents, repository.directory));
  const pack = async (name: string, source: DumpSource, destination: string): Promise<PackedContent> => {
    const earlier = before.get(name) ?? null;
    if ('content' in source) {
      const { content, terminator, onBytes } = source;
      const { length } = content;
      const packed = await packContent({ content, terminator, destination });
      onBytes?.(length);
      return packed;
    }
    if ('pack' in source) {
      const packed = await source.pack(destination, earlier);
      if (!packed.isStored) await syncPath(destination);
      return packed;
    }
    const path = `${directory}/${name}`;
    const packed = await pool.pack({ onBytes: () => {}, ...source, source: path, destination, stored: earlier });
    await rm(path);
    return packed;
  };
  const isStored = async (file: ManifestFile): Promise<boolean> => {
    if (scratch) return repository.has(file);
    const object = storedObject(repository, file);
    const isIntact = object !== null && (await pool.isIntact(object));
    if (isIntact) repository.found(file);
    return isIntact;
  };
  const dumping = database.dump.run({
    ...request,
    previous,
    ...(last !== undefined && { lastBuild: { evidence: last, isStored } }),
    directory,
    expectedBytes: (table) => sizes.get(table),
    async write(name, source) {
      const destination = staging.path(`${name}.object`);
      const packed = await pack(name, source, destination);
      const { sha256, bytes, storedBytes, storedSha256, isStored, isNew = false, ...facts } = packed;
      if (isStored) repository.found({ sha256 });
      if (isNew) repository.added({ sha256 });
      if (isNew || (!isStored && (await repository.store(destination, { sha256 })))) addedBytes += storedBytes;
      return { file: { name, sha256, bytes, stored_bytes: storedBytes, stored_sha256: storedSha256 }, ...facts };
    },
  });
  const { identity, evidence, reading, ...dump } = await dumping.catch((error) => {
    throw isDiskFull(error) ? diskFull(repository.directory, error) : error;
  });
  const migrations = await readMigrations(dump, (file) => pool.read(repository.object(file)));
  return { dump: { ...dump, ...(migrations.length > 0 && { migrations }) }, identity, evidence, reading, addedBytes };
}

type StoreResult = Pick<Awaited<ReturnType<typeof storeDump>>, 'dump' | 'addedBytes'>;

/** The part of a new manifest that the dump determines. */
export function manifestOf(engine: EngineId, { dump, addedBytes }: StoreResult) {
  const { serverVersion, toolVersion, ...dumped } = dump;
  return {
    format: formatFor({ engine, ...dumped }),
    id: newSnapshotId(),
    engine,
    server_version: serverVersion,
    tool_version: toolVersion,
    added_bytes: addedBytes,
    ...dumped,
  };
}

/** Dumps a changed copy of a snapshot, of which no snapshot is made: its manifest, as that would be. */
export async function dumpOfCopy({
  manifest,
  ...dumped
}: Pick<StoringDump, 'database' | 'repository' | 'cpus'> & { manifest: Manifest }): Promise<Manifest> {
  const copied = { previous: manifest, copyOf: manifest, schemaConfig: { include_schemas: manifest.schemas } };
  const stored = await storeDump({ ...dumped, ...copied, scratch: true });
  return { ...manifest, ...manifestOf(manifest.engine, stored) };
}

/** Hands over all items of one turn of the event loop at once. */
function together<Item, Result>(work: (items: Item[]) => Promise<Result[]>): (item: Item) => Promise<Result> {
  let waiting: { items: Item[]; results: Promise<Result[]> } | null = null;
  const begin = async (items: Item[]): Promise<Result[]> => {
    await Promise.resolve();
    waiting = null;
    return await work(items);
  };
  return async (item) => {
    const own: Item[] = [];
    waiting ??= { items: own, results: begin(own) };
    const { items, results } = waiting;
    const at = items.push(item) - 1;
    const result = (await results)[at];
    if (result === undefined) throw new Error('fewer results than items');
    return result;
  };
}

const NO_SPACE = new Set(['ENOSPC', 'EDQUOT']);

function isDiskFull(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && NO_SPACE.has((error as NodeJS.ErrnoException).code ?? '');
}

function diskFull(directory: string, cause: NodeJS.ErrnoException): UserError {
  return new UserError('dump_failed', `The disk of ${directory} is full`, {
    details: [cause.message],
    hint: 'Nothing was stored. Free space, remove old snapshots (tool prune), or move working_directory to a larger disk.',
    cause,
  });
}

/** Returns the objects of the last snapshot's files, by name. */
function storedBefore(repository: LocalRepository, previous: Manifest | undefined): Map<string, StoredObject> {
  const files = previous ? [...previous.tables.flatMap(filesOfTable), ...previous.files] : [];
  return new Map(
    files.flatMap((file) => {
      const object = storedObject(repository, file);
      return object ? [[file.name, object]] : [];
    }),
  );
}

function storedObject(
  repository: LocalRepository,
  { stored_bytes: storedBytes, stored_sha256: storedSha256, ...file }: ManifestFile,
): StoredObject | null {
  return storedSha256 === undefined ? null : { ...repository.object(file), storedBytes, storedSha256 };
}
