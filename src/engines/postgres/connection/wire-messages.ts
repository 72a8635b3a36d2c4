import { ConnectionLost } from './session-errors.ts';

/** Types of messages. https://www.postgresql.org/docs/current/protocol-message-formats.html */
export const TYPE = {
  ...{ copyData: 0x64, copyDone: 0x63, copyFail: 0x66, copyIn: 0x47, ended: 0x43, error: 0x45, query: 0x51 },
  ...{ ready: 0x5a, row: 0x44, terminate: 0x58 },
};

const HEADER_BYTES = 5;
/** Most bytes of a message: without rows, and with one. */
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_ROW_BYTES = 1024 ** 3;
const WITH_ROWS = new Set([TYPE.copyData, TYPE.row]);

export type Take = (buffer: Buffer, from: number, to: number) => void;

interface Messages {
  rows: Take;
  row: () => void;
  handle: (type: number, body: Buffer) => void;
}

/** Cuts the bytes of a connection, which come in chunks that end anywhere, into messages. */
export function readMessages({ rows, row, handle }: Messages): (chunk: Buffer) => void {
  const header = Buffer.alloc(HEADER_BYTES);
  let headed = 0;
  let type = 0;
  /** Bytes that the message still has; -1 between two. */
  let left = -1;
  let body: Buffer[] = [];
  return (chunk) => {
    let at = 0;
    while (at < chunk.length || left === 0) {
      if (left === -1) {
        if (headed === 0 && chunk.length - at >= HEADER_BYTES) {
          type = chunk.readUInt8(at);
          left = chunk.readInt32BE(at + 1) - 4;
          at += HEADER_BYTES;
        } else {
          const more = chunk.copy(header, headed, at, Math.min(chunk.length, at + HEADER_BYTES - headed));
          headed += more;
          at += more;
          if (headed < HEADER_BYTES) return;
          headed = 0;
          type = header.readUInt8(0);
          left = header.readInt32BE(1) - 4;
        }
        if (left < 0 || left > (WITH_ROWS.has(type) ? MOST_ROW_BYTES : MOST_BYTES))
          throw new ConnectionLost('a message has no valid length');
      }
      const end = Math.min(chunk.length, at + left);
      if (type === TYPE.copyData) rows(chunk, at, end);
      else if (end > at) body.push(Buffer.from(chunk.subarray(at, end)));
      left -= end - at;
      at = end;
      if (left > 0) return;
      left = -1;
      if (type === TYPE.copyData) {
        row();
        continue;
      }
      const whole = Buffer.concat(body);
      body = [];
      handle(type, whole);
    }
  };
}

export function messageOf(type: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.of(type), int32(body.length + 4), body]);
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** Returns the fields of an error message, by their letters. */
export function errorFields(body: Buffer): Map<string | undefined, string> {
  const fields = body.toString('utf8').split('\0');
  return new Map(fields.map((field) => [field[0], field.slice(1)]));
}
