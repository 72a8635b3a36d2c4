import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalRepository } from '../../../src/repository/local-repository.ts';
import type { Manifest } from '../../../src/repository/manifest/manifest.ts';
import { createObjectPool } from '../../../src/repository/objects/object-pool.ts';

/** What `writeFile` writes; of what is large, piece by piece. */
type Content = string | Uint8Array | Iterable<Uint8Array>;

type Stored = Pick<Manifest, 'id' | 'target' | 'created_at'> & Partial<Manifest>;

/** Stores a snapshot of one table without any database; each has the content, and so the objects, that the test says. */
export function storeSnapshot(
  directory: string,
  { content, ...given }: Stored & { content: string },
): Promise<Manifest> {
  return storeTables(directory, { ...given, contents: { items: content } });
}

/** Stores a snapshot of several tables. */
export async function storeTables(
  directory: string,
  { id, contents, ...change }: Stored & { contents: Record<string, Content> },
): Promise<Manifest> {
  const repository = createLocalRepository({ directory, report: () => {} });
  await mkdir(directory, { recursive: true });
  const pool = createObjectPool(2);
  let added = 0;
  const tables = await Promise.all(
    Object.entries(contents).map(async ([name, content]) => {
      const source = join(directory, `${id}-${name}.dat`);
      const destination = join(directory, `${id}-${name}.object`);
      await writeFile(source, content);
      const packed = await pool.pack({ source, destination, terminator: null, onBytes: () => {} });
      await rm(source);
      const { sha256, bytes, storedBytes, storedSha256, lines } = packed;
      if (await repository.store(destination, { sha256 })) added += storedBytes;
      const file = { name: `${name}.dat`, sha256, bytes, stored_bytes: storedBytes, stored_sha256: storedSha256 };
      return { name: `public.${name}`, rows: lines, file };
    }),
  );
  await pool[Symbol.asyncDispose]();
  const manifest: Manifest = {
    format: 1,
    id,
    engine: 'postgres',
    server_version: '15.18',
    tool_version: '15.18',
    sanitized: false,
    note: null,
    schemas: ['public'],
    tables,
    files: [],
    added_bytes: added,
    details: {},
    ...change,
  };
  await repository.write(manifest);
  return manifest;
}
