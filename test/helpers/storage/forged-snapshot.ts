import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalRepository } from '../../../src/repository/local-repository.ts';
import type { Manifest, ManifestFile } from '../../../src/repository/manifest/manifest.ts';
import { createObjectPool } from '../../../src/repository/objects/object-pool.ts';

export interface Forgery {
  /** The working directory. */
  directory: string;
  manifest: Manifest;
  /** Id of the forged snapshot: eight hexadecimal digits. */
  id: string;
  /** Content of a file by its name, whatever it was. */
  files?: Record<string, string | Uint8Array>;
  details?: Partial<Record<string, unknown>>;
  /** The tables, with parts in another order, for instance. */
  tables?: (tables: Manifest['tables']) => Manifest['tables'];
}

/** A snapshot as somebody writes it who may write the store: other contents, and checksums that fit them. */
export async function forgeSnapshot({
  directory,
  manifest,
  id,
  files = {},
  details,
  tables = (same) => same,
}: Forgery): Promise<Manifest> {
  const repository = createLocalRepository({ directory, report: () => {} });
  const pool = createObjectPool(1);
  const replace = async (file: Manifest['files'][number]): Promise<Manifest['files'][number]> => {
    const content = files[file.name];
    if (content === undefined) return file;
    const source = join(directory, `${id}.content`);
    const destination = join(directory, `${id}.object`);
    await writeFile(source, content);
    const packed = await pool.pack({ source, destination, terminator: null, onBytes: () => {} });
    await rm(source);
    await repository.store(destination, { sha256: packed.sha256 });
    return {
      ...file,
      ...{ sha256: packed.sha256, bytes: packed.bytes },
      ...{ stored_bytes: packed.storedBytes, stored_sha256: packed.storedSha256 },
    };
  };
  // An invalid signature alone would be refused.
  const { signature: _, ...unsigned } = manifest;
  const forged: Manifest = {
    ...unsigned,
    id,
    created_at: new Date(Date.parse(manifest.created_at) + 1000).toISOString(),
    tables: [],
    files: [],
    details: { ...(manifest.details as object), ...details },
  };
  for (const table of tables(manifest.tables)) {
    const parts: ManifestFile[] = [];
    for (const part of table.parts ?? []) parts.push(await replace(part));
    forged.tables.push({ ...table, file: await replace(table.file), ...(parts.length > 0 && { parts }) });
  }
  for (const file of manifest.files) forged.files.push(await replace(file));
  await pool[Symbol.asyncDispose]();
  await repository.write(forged);
  return forged;
}
