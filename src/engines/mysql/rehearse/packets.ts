import { scanMessages } from '../../shared/rehearse/scan-messages.ts';
import { LONGEST_READ } from './other-database.ts';

export const HEADER_BYTES = 4;

/** https://dev.mysql.com/doc/dev/mysql-server/latest/mysql__com_8h.html, SERVER_STATUS_flags_enum */
export const STATUS = { inTransaction: 0x1, moreResults: 0x8, cursor: 0x40 } as const;

/** Bytes of a statement's text that are told, with its command. */
const LONGEST_TEXT = LONGEST_READ + 1;
const LONGEST_ERROR = 1024;
/** Enough for an OK packet until its status. */
const LONGEST_HEAD = 24;

export function packetOf(sequence: number, body: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUIntLE(body.length, 0, 3);
  header.writeUInt8(sequence & 0xff, 3);
  return Buffer.concat([header, body]);
}

export interface ScannedPacket {
  beginning: Buffer;
  /** The length of the body. */
  bytes: number;
}

/** Reads the beginnings of packets; parts of a longer one are not told. */
function scanPackets(readBytes: (first: number) => number, take: (packet: ScannedPacket) => void) {
  let isPart = false;
  return scanMessages({
    headerBytes: HEADER_BYTES,
    bodyBytes: (header) => header.readUIntLE(0, 3),
    readBytes: (_, first) => (isPart ? 0 : readBytes(first)),
    take(header, beginning) {
      const bytes = header.readUIntLE(0, 3);
      const wasPart = isPart;
      isPart = bytes === LONGEST_BODY;
      if (!wasPart) take({ beginning, bytes });
    },
  });
}

const LONGEST_BODY = 0xffffff;
const ERROR = 0xff;
/** Commands that are text: a database, a query, and a statement to prepare. */
const TEXTS = new Set([0x02, 0x03, 0x16]);

export function scanClient(take: (packet: ScannedPacket) => void): (chunk: Buffer) => void {
  return scanPackets((first) => (TEXTS.has(first) ? LONGEST_TEXT : LONGEST_HEAD), take);
}

export function scanServer(take: (packet: ScannedPacket) => void): (chunk: Buffer) => void {
  return scanPackets((first) => (first === ERROR ? LONGEST_ERROR : LONGEST_HEAD), take);
}

/** https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_ok_packet.html */
export function okPacket(body: Buffer): { affected: number; status: number } {
  const affected = lengthAt(body, 1);
  const status = lengthAt(body, affected.end).end;
  return { affected: affected.value, status: status + 2 <= body.length ? body.readUInt16LE(status) : 0 };
}

const SIZES: Record<number, number> = { 252: 2, 253: 3, 254: 6 };

/** An integer of one to nine bytes; six bytes of eight are the exact ones of a number. */
function lengthAt(body: Buffer, at: number): { value: number; end: number } {
  const first = body[at] ?? 0;
  const size = SIZES[first];
  if (size === undefined || at + 1 + size > body.length) return { value: first, end: at + 1 };
  return { value: body.readUIntLE(at + 1, size), end: at + 1 + (first === 0xfe ? 8 : size) };
}
