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

export async function ownIdentity(): Promise<ProcessIdentity> {
  return { host: await thisHost(), pid: process.pid, process: await processStart(process.pid) };
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
  const ticks = status?.slice(status.lastIndexOf(')') + 2).split(' ')[19];
  return ticks === undefined || boot === null ? null : `${boot.trim()} ${ticks}`;
}
