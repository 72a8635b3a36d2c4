import { readFile } from 'node:fs/promises';
import type { ServerRow } from '../../../results/running-servers.ts';
import type { ServerList } from '../../../results/server-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { mapWithConcurrency } from '../../../runtime/map-with-concurrency.ts';
import { findServers, ownOf, type RunningServer, sweepServers } from '../records.ts';

const AT_ONCE = 8;

/** Lists the running servers, and removes what killed ones have left. */
export async function listServers(context: Context): Promise<ServerList> {
  return { servers: await serverRows(await sweepServers(context)) };
}

/** Lists them, and removes nothing. */
export async function runningServers(context: Context): Promise<ServerRow[]> {
  return serverRows((await findServers(context)).running);
}

/** Lists those that end with this process. */
export async function listOwnServers(context: Context): Promise<ServerRow[]> {
  return serverRows(await ownOf((await findServers(context)).running));
}

export function serverRows(running: RunningServer[]): Promise<ServerRow[]> {
  return mapWithConcurrency(running, AT_ONCE, async ({ pid, ...record }) => {
    const { id, target, snapshot, database, url, port, detached, created_at } = record;
    return { id, target, snapshot, database, url, port, detached, created_at, memory_bytes: await memoryOf(pid) };
  });
}

/** Shared memory counts once. https://www.kernel.org/doc/html/latest/filesystems/proc.html */
async function memoryOf(pid: number): Promise<number | null> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const pids = [String(pid), ...children.split(' ')].filter((one) => one.trim() !== '');
  const sizes = await mapWithConcurrency(pids, AT_ONCE, async (one) => {
    const text = await readFile(`/proc/${one}/smaps_rollup`, 'utf8').catch(() => '');
    return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
  });
  const sum = sizes.reduce((all, one) => all + one, 0);
  return sum === 0 ? null : sum;
}
