import { readdir, readFile, readlink } from 'node:fs/promises';
import { printable } from '../text/printable.ts';

/** Of a line of /proc/net/tcp: https://docs.kernel.org/networking/proc_net_tcp.html */
const LISTENING = '0A';

/** Listeners on a local port, as `node (process 4711)`; empty where the system does not tell. */
export async function portHolders(port: number): Promise<string[]> {
  const sockets = await listeningSockets(port);
  if (sockets.size === 0) return [];
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const holders: string[] = [];
  for (const pid of processes) if (await holdsOne(pid, sockets)) holders.push(`${await nameOf(pid)} (process ${pid})`);
  return holders;
}

/** Names of sockets among the open files of a process. Linux only. */
async function listeningSockets(port: number): Promise<Set<string>> {
  const lists = ['/proc/net/tcp', '/proc/net/tcp6'].map((list) => readFile(list, 'utf8').catch(() => ''));
  const lines = (await Promise.all(lists)).flatMap((text) => text.split('\n').slice(1));
  const place = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => {
      return local?.endsWith(place) && state === LISTENING;
    });
  return new Set(sockets.map((columns) => `socket:[${columns[9]}]`));
}

/** Open files of other users are not readable. */
async function holdsOne(pid: string, sockets: Set<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const files = await readdir(folder).catch(() => []);
  const links = await Promise.all(files.map((file) => readlink(`${folder}/${file}`).catch(() => '')));
  return links.some((link) => sockets.has(link));
}

/** The name instead of the command line, which may contain secrets. */
async function nameOf(pid: string): Promise<string> {
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  return printable(name, '') || 'a program';
}
