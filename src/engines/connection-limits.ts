import { networkInterfaces } from 'node:os';
import { unlessAborted } from '../process/unless-aborted.ts';
import type { DatabaseUrl } from './database-url.ts';
import { profileOf } from './list.ts';

/** Read-only connections at a time, per server and in total. */
const limits = { perServer: 4, inTotal: 16 };

/** Each of two threads counts its own connections, and so gets half of them. */
export function shareConnections(): void {
  limits.perServer = 2;
  limits.inTotal = 8;
}

// Module state on purpose: the server's limit is for the whole process.
const open = new Map<string, number>();
const waiting: { server: string; begin: () => void }[] = [];
let total = 0;

/** Runs work that opens one connection to the URL's server when there is room, in the order of the calls. */
export async function withConnection<Result>(url: DatabaseUrl, signal: AbortSignal, work: () => Promise<Result>) {
  const server = serverOf(url);
  const turn = new Promise<void>((resolve) => waiting.push({ server, begin: resolve }));
  const entry = waiting.at(-1);
  admit();
  try {
    await unlessAborted(turn, signal);
  } catch (reason) {
    const index = entry ? waiting.indexOf(entry) : -1;
    if (index === -1) release(server);
    else waiting.splice(index, 1);
    throw reason;
  }
  try {
    return await work();
  } finally {
    release(server);
  }
}

/** Starts all work that there is room for; work for a busy server does not block the rest. */
function admit(): void {
  for (let index = 0; index < waiting.length && total < limits.inTotal; ) {
    const next = waiting[index];
    const count = next ? (open.get(next.server) ?? 0) : limits.perServer;
    if (!next || count >= limits.perServer) {
      index += 1;
      continue;
    }
    waiting.splice(index, 1);
    open.set(next.server, count + 1);
    total += 1;
    next.begin();
  }
}

function release(server: string): void {
  const count = (open.get(server) ?? 1) - 1;
  if (count === 0) open.delete(server);
  else open.set(server, count);
  total -= 1;
  admit();
}

/** The first address of the URL; all names of this machine count as one. */
function serverOf({ engine, hosts: [first], parameters }: DatabaseUrl): string {
  const host = (parameters.hostaddr ?? parameters.socket ?? first?.host ?? '').toLowerCase();
  const port = first?.port ?? profileOf(engine).defaultPort;
  const isHere = parameters.tunnel === undefined && isThisMachine(host);
  return `${engine} ${isHere ? '' : host}:${port} ${parameters.service ?? ''} ${parameters.tunnel ?? ''}`;
}

function isThisMachine(host: string): boolean {
  if (host === '' || host === 'localhost' || host === '::1' || host.startsWith('/') || host.startsWith('127.'))
    return true;
  return Object.values(networkInterfaces()).some((cards) => cards?.some(({ address }) => address === host));
}

/** Equal for URLs that can share one connection: those that differ in the database only. */
export function connectionKey({ engine, hosts, user, password, parameters, inContainer, database }: DatabaseUrl) {
  return JSON.stringify([engine, hosts, user, password, parameters, inContainer, database === null]);
}
