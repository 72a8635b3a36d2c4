import { rm } from 'node:fs/promises';
import type { DumpRequest } from '../../engines/facets/dump.ts';
import type { Database } from '../../engines/open-database.ts';
import type { LocalRepository } from '../../repository/local-repository.ts';
import { bytesOfTable, filesOfTable, type Manifest } from '../../repository/manifest.ts';
import type { PackedContent, StoredObject } from '../../repository/objects/object-file.ts';
import { createObjectPool, syncFile } from '../../repository/objects/object-pool.ts';
import { UserError } from '../../runtime/errors.ts';
import { readMigrations } from '../migrations/read-migrations.ts';

export interface StoringDump
  extends Pick<DumpRequest, 'schemaConfig' | 'includeNeededSchemas' | 'jobs' | 'copyOf' | 'program'> {
  database: Pick<Database, 'dump'>;
  repository: LocalRepository;
  previous: Manifest | undefined;
}

/** Dumps into a staging folder and moves each file into the objects as soon as it is packed. */
export async function storeDump({ database, repository, previous, ...request }: StoringDump) {
  await using staging = await repository.stage();
  const directory = await staging.folder('dump');
  const pool = createObjectPool(request.jobs);
  await using _closing = { [Symbol.asyncDispose]: () => pool.close() };
  const before = storedBefore(repository, previous);
  const sizes = new Map(previous?.tables.map((table) => [table.name, bytesOfTable(table)]));
  let addedBytes = 0;
  const store = async (name: string, { destination, packed }: { destination: string; packed: PackedContent }) => {
    const { sha256, bytes, storedBytes, storedSha256, isStored, isNew = false, ...facts } = packed;
    if (isStored) repository.found({ sha256 });
    if (isNew) repository.added({ sha256 });
    if (isNew || (!isStored && (await repository.store(destination, { sha256 })))) addedBytes += storedBytes;
    return { file: { name, sha256, bytes, stored_bytes: storedBytes, stored_sha256: storedSha256 }, ...facts };
  };
  const dumping = database.dump.run({
    ...request,
    previous,
    directory,
    expectedBytes: (table) => sizes.get(table),
    finish: () => pool.finish(),
    async pack({ name, ...growth }) {
      const source = `${directory}/${name}`;
      const destination = staging.path(`${name}.object`);
      const packed = await pool.pack({
        source,
        destination,
        ...growth,
        stored: growth.grown === true ? before.get(name) : null,
      });
      const stored = await store(name, { destination, packed });
      await rm(source);
      return stored;
    },
    async packWith(name, pack) {
      const destination = staging.path(`${name}.object`);
      const packed = await pack(destination, before.get(name) ?? null);
      if (!packed.isStored) await syncFile(destination);
      return await store(name, { destination, packed });
    },
    async packContents(files) {
      const contents = files.map(({ name, ...each }) => ({ ...each, destination: staging.path(`${name}.object`) }));
      const packed = await pool.packContents(contents, repository.directory);
      return await Promise.all(
        packed.map((one, at) => {
          const { name = '' } = files[at] ?? {};
          return store(name, { destination: staging.path(`${name}.object`), packed: one });
        }),
      );
    },
  });
  const { identity, ...dump } = await dumping.catch((error) => {
    throw isDiskFull(error) ? diskFull(repository.directory, error) : error;
  });
  const migrations = await readMigrations(dump, (file) => pool.read(repository.object(file)));
  return { dump: { ...dump, ...(migrations.length > 0 && { migrations }) }, identity, addedBytes };
}

const NO_SPACE = new Set(['ENOSPC', 'EDQUOT']);

function isDiskFull(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && NO_SPACE.has((error as NodeJS.ErrnoException).code ?? '');
}

function diskFull(directory: string, cause: NodeJS.ErrnoException): UserError {
  return new UserError(`The disk of ${directory} is full`, {
    code: 'dump_failed',
    details: [cause.message],
    hint: 'Nothing was stored. Free space, remove old snapshots (tool prune), or move working_directory to a larger disk.',
    cause,
  });
}

/** Returns the objects of the last snapshot's files, by name. */
function storedBefore(repository: LocalRepository, previous: Manifest | undefined): Map<string, StoredObject> {
  const files = previous ? [...previous.tables.flatMap(filesOfTable), ...previous.files] : [];
  return new Map(
    files.flatMap(({ name, sha256, bytes, stored_bytes: storedBytes, stored_sha256: storedSha256 }) =>
      storedSha256 === undefined
        ? []
        : [[name, { ...repository.object({ sha256, bytes }), storedBytes, storedSha256 }]],
    ),
  );
}
