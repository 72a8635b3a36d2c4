import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '../../src/snapshots/manifest.ts';
import { createObjectPool } from '../../src/snapshots/object-pool.ts';
import { createRepository } from '../../src/snapshots/repository.ts';

/** Stores a snapshot of one table without any database; each has the content, and so the objects, that the test says. */
export async function storeSnapshot(
  directory: string,
  { id, content, ...change }: Pick<Manifest, 'id' | 'target' | 'created_at'> & { content: string; note?: string },
): Promise<void> {
  const repository = createRepository({ directory, report: () => {} });
  await mkdir(directory, { recursive: true });
  const source = join(directory, `${id}.dat`);
  const destination = join(directory, `${id}.object`);
  await writeFile(source, content);
  const pool = createObjectPool(1);
  pool.finish();
  const { sha256, bytes, storedBytes } = await pool.pack({ source, destination, terminator: null, onBytes: () => {} });
  await pool.close();
  await repository.store(destination, { sha256 });
  const file = { name: 'items.dat', sha256, bytes, stored_bytes: storedBytes };
  await repository.write({
    format: 1,
    id,
    engine: 'postgres',
    server_version: '15.18',
    tool_version: '15.18',
    sanitized: false,
    note: null,
    schemas: ['public'],
    tables: [{ name: 'public.items', rows: content.split('\n').length - 1, file }],
    files: [],
    added_bytes: storedBytes,
    details: {},
    ...change,
  });
}
