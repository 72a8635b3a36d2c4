import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';

/**
 * Reports whether a connection on the loopback interface was made by this user or root: other users of the machine must
 * not reach the database. Linux only; elsewhere every connection counts as own.
 */
export async function isOwnConnection({
  remoteAddress,
  remotePort,
  localAddress,
  localPort,
}: Socket): Promise<boolean> {
  const table = await readFile('/proc/net/tcp', 'latin1').catch(() => null);
  if (table === null || !process.getuid) return true;
  const from = entry(remoteAddress, remotePort);
  const to = entry(localAddress, localPort);
  // The second pair: from a socket that knows IPv6, too.
  const pairs = [` ${from} ${to} `, ` ${MAPPED}${from} ${MAPPED}${to} `];
  const both = table + (await readFile('/proc/net/tcp6', 'latin1').catch(() => ''));
  const line = both.split('\n').find((each) => pairs.some((pair) => each.includes(pair)));
  // Columns: number, local, remote, state, queues, timer, retransmissions, user, timeout, inode.
  const { 7: uid, 9: inode } = line?.trim().split(/\s+/) ?? [];
  // What its program has closed has no inode, and is shown as root's.
  return inode !== '0' && (uid === '0' || uid === String(process.getuid()));
}

/** Before the number of an IPv4 address that is written as one of IPv6; four bytes are a number of the machine. */
const MAPPED = endianness() === 'LE' ? '0000000000000000FFFF0000' : '00000000000000000000FFFF';

function entry(address = '', port = 0): string {
  const bytes = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  const ordered = endianness() === 'LE' ? bytes.toReversed() : bytes;
  return `${ordered.join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}
