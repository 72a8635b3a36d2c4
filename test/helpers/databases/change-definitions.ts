import { globSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { DEFINITIONS_FILE } from '../../../src/engines/mysql/details.ts';
import { createLocalRepository } from '../../../src/repository/local-repository.ts';
import type { Manifest } from '../../../src/repository/manifest/manifest.ts';
import { createObjectPool } from '../../../src/repository/objects/object-pool.ts';
import { objectKey } from '../../../src/repository/store/keys.ts';

/** Changes a stored snapshot as a writer of its store may: object and checksums match the manifest, which is unsigned. */
export function changeDefinitions<Content>(
  directory: string,
  { id, change }: { id: string; change: (definitions: Content) => unknown },
): Promise<void> {
  const changed = (text: string): string => {
    const content = JSON.parse(text) as Content;
    change(content);
    return JSON.stringify(content);
  };
  return changeFile(directory, { id, name: DEFINITIONS_FILE, change: changed });
}

/** As `changeDefinitions`, of any file of the snapshot, as text. */
export async function changeFile(
  directory: string,
  { id, name, change }: { id: string; name: string; change: (text: string) => string },
): Promise<void> {
  const [path] = globSync(join(directory, 'snapshots', '**', `*${id}*`));
  if (path === undefined) throw new Error(`no manifest of ${id}`);
  const manifest = JSON.parse(await readFile(path, 'utf8')) as Manifest;
  const file = [...manifest.files, ...manifest.tables.map((table) => table.file)].find((each) => each.name === name);
  if (!file) throw new Error(`the manifest has no ${name}`);
  const stored = await readFile(join(directory, objectKey(file.sha256)));
  const content = change(zstdDecompressSync(stored).toString('utf8'));

  const repository = createLocalRepository({ directory, report: () => {} });
  const pool = createObjectPool(1);
  const source = join(directory, `${id}.json`);
  const destination = join(directory, `${id}.object`);
  await writeFile(source, content);
  const packed = await pool.pack({ source, destination, terminator: null, onBytes: () => {} });
  await rm(source, { force: true });
  await repository.store(destination, { sha256: packed.sha256 });
  await rm(destination, { force: true });
  await pool[Symbol.asyncDispose]();
  Object.assign(file, {
    sha256: packed.sha256,
    bytes: packed.bytes,
    stored_bytes: packed.storedBytes,
    stored_sha256: packed.storedSha256,
  });
  const { signature: _, ...unsigned } = manifest;
  await writeFile(path, JSON.stringify(unsigned));
}
