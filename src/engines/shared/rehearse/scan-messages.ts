export interface ScannedMessages {
  headerBytes: number;
  /** Bytes of the body behind a header; a negative number is none. */
  bodyBytes: (header: Buffer) => number;
  /** Bytes of the beginning of a message's body that are read; the rest is counted only. `first` is 0 without a body. */
  readBytes: (header: Buffer, first: number) => number;
  /** Both are used again for the next message. */
  take: (header: Buffer, beginning: Buffer) => void;
}

/** Reads the beginnings of messages, whose bytes come in chunks that end anywhere and are not kept. */
export function scanMessages({ headerBytes, bodyBytes, readBytes, take }: ScannedMessages): (chunk: Buffer) => void {
  const header = Buffer.alloc(headerBytes);
  let headed = 0;
  let left = 0;
  let wanted: number | null = null;
  let beginning: Buffer[] = [];
  const end = (): void => {
    headed = 0;
    wanted = null;
    const [first = NOTHING, ...more] = beginning;
    beginning = [];
    take(header, more.length === 0 ? first : Buffer.concat([first, ...more]));
  };
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (headed < headerBytes) {
        const more = chunk.copy(header, headed, at, Math.min(chunk.length, at + headerBytes - headed));
        headed += more;
        at += more;
        if (headed < headerBytes) return;
        left = bodyBytes(header);
        if (left < 0) throw new Error('a message has no valid length');
        if (left === 0) end();
        continue;
      }
      wanted ??= readBytes(header, chunk.readUInt8(at));
      const until = Math.min(chunk.length, at + left);
      if (wanted > 0) {
        const within = chunk.subarray(at, Math.min(until, at + wanted));
        // Kept until the next chunk, it would keep this whole one.
        const piece = until - at < left ? Buffer.from(within) : within;
        wanted -= piece.length;
        beginning.push(piece);
      }
      left -= until - at;
      at = until;
      if (left === 0) end();
    }
  };
}

const NOTHING = Buffer.alloc(0);
