import { ConnectionLost } from '../connection/session-errors.ts';

const HEADER_BYTES = 5;

export interface ScannedMessages {
  /** Bytes of the beginning of a message's body that are read; the rest is counted only. */
  readBytes: (type: number) => number;
  take: (type: number, beginning: Buffer) => void;
}

/** Reads the beginnings of messages, whose bytes come in chunks that end anywhere and are not kept. */
export function scanMessages({ readBytes, take }: ScannedMessages): (chunk: Buffer) => void {
  const header = Buffer.alloc(HEADER_BYTES);
  let headed = 0;
  let type = 0;
  let left = 0;
  let wanted = 0;
  let beginning: Buffer[] = [];
  const end = (): void => {
    headed = 0;
    const whole = Buffer.concat(beginning);
    beginning = [];
    take(type, whole);
  };
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (headed < HEADER_BYTES) {
        const more = chunk.copy(header, headed, at, Math.min(chunk.length, at + HEADER_BYTES - headed));
        headed += more;
        at += more;
        if (headed < HEADER_BYTES) return;
        type = header.readUInt8(0);
        left = header.readInt32BE(1) - 4;
        if (left < 0) throw new ConnectionLost('a message has no valid length');
        wanted = readBytes(type);
        if (left === 0) end();
        continue;
      }
      const until = Math.min(chunk.length, at + left);
      if (wanted > 0) {
        const piece = Buffer.from(chunk.subarray(at, Math.min(until, at + wanted)));
        wanted -= piece.length;
        beginning.push(piece);
      }
      left -= until - at;
      at = until;
      if (left === 0) end();
    }
  };
}
