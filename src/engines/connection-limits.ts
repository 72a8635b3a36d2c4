import { networkInterfaces } from 'node:os';
import { unlessAborted } from '../process/unless-aborted.ts';
import type { DatabaseUrl } from './engine.ts';
import { profileOf } from './list.ts';

/** How many connections that only look may be open at a time, on a server and on all servers together. */
const limits = { perServer: 4, inTotal: 16 };

/** Each thread counts its own connections: where there are two of them, each has one half. */
export function shareConnections(): void {
  limits.perServer = 2;
  limits.inTotal = 8;
}

interface Waiting {
  server: string;
  begin: () => void;
}

// Of the whole process on purpose: a server cannot tell which operation or screen its connections are for.
const open = new Map<string, number>();
const waiting: Waiting[] = [];
let total = 0;

/** Does work that opens one connection to the URL's server as soon as there is room for it, in the order of the calls. */
export async function withConnection<Result>(
  url: DatabaseUrl,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
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

/** Begins all that there is room for; who waits for a busy server holds up nobody else. */
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

/** A server by its first address as it is written; the names of this machine are one. */
function serverOf({ engine, hosts: [first], parameters }: DatabaseUrl): string {
  const host = (parameters.hostaddr ?? parameters.socket ?? first?.host ?? '').toLowerCase();
  const port = first?.port ?? profileOf(engine).defaultPort;
  return `${engine} ${isThisMachine(host) ? '' : host}:${port} ${parameters.service ?? ''}`;
}

function isThisMachine(host: string): boolean {
  if (host === '' || host === 'localhost' || host === '::1' || host.startsWith('/') || host.startsWith('127.'))
    return true;
  return Object.values(networkInterfaces()).some((cards) => cards?.some(({ address }) => address === host));
}

/** What URLs have in common that can share one connection: all but the database. */
export function connectionKey({
  engine,
  hosts,
  user,
  password,
  parameters,
  inContainer,
  database,
}: DatabaseUrl): string {
  // Which database is meant by none is found out by connecting.
  return JSON.stringify([engine, hosts, user, password, parameters, inContainer, database === null]);
}
