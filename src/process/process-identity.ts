import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import * as v from 'valibot';
import { isRunning } from './is-running.ts';

export const processIdentity = v.object({
  host: v.string(),
  pid: v.number(),
  /** Distinguishes the process from a later one with its id; `null` where the system does not tell. */
  process: v.nullable(v.string()),
});
export type ProcessIdentity = v.InferOutput<typeof processIdentity>;

/** Returns the identity of a process of this host; default: of this process. */
export async function identityOf(pid = process.pid): Promise<ProcessIdentity> {
  return { host: await thisHost(), pid, process: await processStart(pid) };
}

/** Reports whether a process of this host still runs; `null` for one of another host. */
export async function isAlive({ host, pid, process }: ProcessIdentity): Promise<boolean | null> {
  if (host !== (await thisHost())) return null;
  return isRunning(pid) && process === (await processStart(pid));
}

/** Containers on one machine, and machines on one volume, do not see each other's processes. */
async function thisHost(): Promise<string> {
  const machine = await readFile('/etc/machine-id', 'utf8').catch(() => '');
  const processes = await readlink('/proc/self/ns/pid').catch(() => '');
  return [hostname(), machine.trim(), processes].filter(Boolean).join(' ');
}

/** Start of a process, in ticks since the system's start. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
async function processStart(pid: number): Promise<string | null> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => null);
  // The name of the program, in brackets, may contain anything.
  const fields = status?.slice(status.lastIndexOf(')') + 2).split(' ');
  const ticks = fields?.[19];
  // One that has ended may stay in the list of processes.
  const hasEnded = fields?.[0] === 'Z' || fields?.[0] === 'X';
  return hasEnded || ticks === undefined || boot === null ? null : `${boot.trim()} ${ticks}`;
}
