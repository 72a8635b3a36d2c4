import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, rmdir, statfs, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../proxies/free-port.ts';
import type { DebianTree } from './debian-tree.ts';

const run = promisify(execFile);

/** A server of the tree, reached over its port; `durable` as a server comes. */
export async function startInside(
  { shell }: DebianTree,
  major: number,
  { folder, durable = false }: { folder?: string; durable?: boolean } = {},
) {
  const port = await freePort();
  const data = folder ?? `/tmp/tool-data-${port}`;
  const control = `su postgres -c "/usr/lib/postgresql/${major}/bin/pg_ctl --pgdata=${data} --silent --wait`;
  const { output, exit } = await shell(
    `su postgres -c "/usr/lib/postgresql/${major}/bin/initdb --auth=trust --no-sync ${data}" &&
      ${control} --log=/dev/null --options='-c port=${port} -c unix_socket_directories= -c fsync=${durable ? 'on' : 'off'} -c wal_level=minimal -c max_wal_senders=0 -c max_wal_size=${durable ? '1GB' : '64MB'}' start" </dev/null >/dev/null`,
  );
  if (exit !== 0) throw new Error(output);
  const url = (database: string): string => `postgres://postgres@127.0.0.1:${port}/${database}`;
  return {
    url,
    psql: async (database: string, sql: string): Promise<string> =>
      (await run('psql', ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', url(database), '-c', sql])).stdout,
    async [Symbol.asyncDispose]() {
      await shell(`${control} --mode=immediate stop"; rm -r ${data}`);
    },
  };
}

/** A file system with reflinks within the tree, on a loop device. */
export async function mountXfs({ root }: DebianTree, { bytes = 2 * 1024 ** 3 } = {}) {
  const at = await mkdtemp(join(root, 'tmp/xfs-'));
  const image = `${at}.img`;
  const remove = async (): Promise<void> => {
    await rm(image, { force: true });
    await rmdir(at);
  };
  try {
    await writeFile(image, '');
    await truncate(image, bytes);
    await run('mkfs.xfs', ['-q', '-m', 'reflink=1', image]);
    await run('mount', ['-o', 'loop', image, at]);
  } catch (error) {
    await remove();
    throw error;
  }
  await chmod(at, 0o777);
  return {
    inside: at.slice(root.length),
    async usedBytes(): Promise<number> {
      await run('sync', ['-f', at]);
      const { blocks, bfree, bsize } = await statfs(at);
      return (blocks - bfree) * bsize;
    },
    async [Symbol.asyncDispose]() {
      await run('umount', [at]);
      await remove();
    },
  };
}
