import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';

type Address = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/** Connections whose user is being looked up: another user may open any number. */
export const MOST_UNKNOWN = 5000;

/**
 * Returns what reports whether a connection on the loopback interface was made by this user or root: other users of the
 * machine must not reach the database. Linux only; elsewhere every connection counts as own. The kernel writes a table of
 * all connections for each reading of it: those that wait for one share it, however many another user opens.
 */
export function createOwnConnectionCheck(): (connection: Address) => Promise<boolean> {
  let reading: Promise<unknown> = Promise.resolve();
  let next: Promise<ConnectionTable | null> | null = null;
  return async ({ remoteAddress, remotePort, localAddress, localPort }) => {
    if (!next) {
      // One that is under way may have begun before this connection was made.
      next = reading.then(() => {
        next = null;
        return readTable();
      });
      reading = next;
    }
    const table = await next;
    if (table === null || !process.getuid) return true;
    const from = entry(remoteAddress, remotePort);
    const to = entry(localAddress, localPort);
    // The second pair: from a socket that knows IPv6, too.
    const owner = table.get(`${from} ${to}`) ?? table.get(`${MAPPED}${from} ${MAPPED}${to}`);
    return owner === '0' || owner === String(process.getuid());
  };
}

/** The user of each connection, by its two ends. */
type ConnectionTable = ReadonlyMap<string, string>;

async function readTable(): Promise<ConnectionTable | null> {
  const table = await readFile('/proc/net/tcp', 'latin1').catch(() => null);
  if (table === null) return null;
  const both = table + (await readFile('/proc/net/tcp6', 'latin1').catch(() => ''));
  const owners = new Map<string, string>();
  for (const [, ends = '', uid = '', inode] of both.matchAll(LINE)) if (inode !== '0') owners.set(ends, uid);
  return owners;
}

/**
 * Columns: number, local, remote, state, queues, timer, retransmissions, user, timeout, inode. What its program has closed
 * has no inode, and is shown as root's; of those that wait for late packets (06) there may be tens of thousands.
 */
const LINE = /^ *\d+: (\S+ \S+) (?!06)\S+ \S+ \S+ \S+ +(\d+) +\d+ (\d+)/gm;

/** Before the number of an IPv4 address that is written as one of IPv6; four bytes are a number of the machine. */
const MAPPED = endianness() === 'LE' ? '0000000000000000FFFF0000' : '00000000000000000000FFFF';

function entry(address = '', port = 0): string {
  const bytes = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  const ordered = endianness() === 'LE' ? bytes.toReversed() : bytes;
  return `${ordered.join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}
