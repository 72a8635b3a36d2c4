import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerPrograms } from '../../../src/engines/postgres/server/server-programs.ts';

const MAJOR = '15';
const SYSTEM = { bin: `/usr/lib/postgresql/${MAJOR}/bin`, share: `/usr/share/postgresql/${MAJOR}` };

/** What the copy is made of: Debian's layout of folders. */
export const RELOCATABLE = [SYSTEM.bin, SYSTEM.share].every(existsSync)
  ? {}
  : { files: `PostgreSQL ${MAJOR} of Debian, to add extensions to a copy of it` };

/**
 * A copy of the system's server programs with more extensions: a server finds its files relative to its program, so that
 * nothing of the system's is touched. `folder` is readable by everybody.
 */
export async function relocatedPostgres(folder: string, extensions: Record<string, string>): Promise<ServerPrograms> {
  const bin = join(folder, `lib/postgresql/${MAJOR}/bin`);
  const share = join(folder, `share/postgresql/${MAJOR}`);
  await mkdir(bin, { recursive: true });
  await mkdir(join(share, 'extension'), { recursive: true });
  for (const program of ['postgres', 'initdb']) await cp(join(SYSTEM.bin, program), join(bin, program));
  await symlink(join(SYSTEM.bin, '../lib'), join(bin, '../lib'));
  for (const part of ['', 'extension']) {
    const names = await readdir(join(SYSTEM.share, part));
    for (const name of names) {
      if (name !== 'extension') await symlink(join(SYSTEM.share, part, name), join(share, part, name));
    }
  }
  for (const [name, sql] of Object.entries(extensions)) {
    await writeFile(join(share, 'extension', `${name}.control`), "default_version = '1'\nrelocatable = false\n");
    await writeFile(join(share, 'extension', `${name}--1.sql`), sql);
  }
  await chmod(folder, 0o755);
  return { bin };
}
