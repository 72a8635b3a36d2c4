import type { Connection, ResultSetHeader } from 'mysql2';

/** Payload bytes of a full packet; a shorter packet ends the statement. */
const FULL_PACKET = 0xff_ff_ff;
const HEADER_BYTES = 4;
const FIRST_BYTES = 1024 * 1024;

/** Members of the driver's connection that its types omit. */
interface RawConnection extends Connection {
  stream: { write(bytes: Uint8Array, written: (error?: Error | null) => void): boolean };
  _bumpSequenceId(packets: number): void;
}

function isRaw(connection: Connection): connection is RawConnection {
  return 'stream' in connection && '_bumpSequenceId' in connection;
}

export interface SendOptions {
  /** The result is no header then. */
  dropRows?: boolean;
}

export type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export type SendStatement = (pieces: Pieces, options?: SendOptions) => Promise<ResultSetHeader>;

/**
 * Sends statements of any length in packets that share one buffer; the driver would keep three copies of each. A
 * failed piece ends the connection, since the server waits for the rest.
 */
export function statementSender(connection: Connection): SendStatement {
  let buffer = Buffer.alloc(0);

  function write(raw: RawConnection, bytes: number): Promise<void> {
    buffer.writeUIntLE(bytes, 0, 3);
    buffer.writeUInt8(raw.sequenceId, 3);
    raw._bumpSequenceId(1);
    return new Promise((resolve, reject) => {
      raw.stream.write(buffer.subarray(0, HEADER_BYTES + bytes), (error) => (error ? reject(error) : resolve()));
    });
  }

  async function writeAll(raw: RawConnection, head: Uint8Array, pieces: Pieces): Promise<void> {
    if (buffer.length === 0) buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
    buffer.set(head, HEADER_BYTES);
    let filled = head.length;
    for await (const piece of pieces) {
      for (let from = 0; from < piece.length; ) {
        const part = piece.subarray(from, from + FULL_PACKET - filled);
        buffer = withRoom(buffer, filled, HEADER_BYTES + filled + part.length);
        buffer.set(part, HEADER_BYTES + filled);
        filled += part.length;
        from += part.length;
        if (filled < FULL_PACKET) continue;
        await write(raw, filled);
        filled = 0;
      }
    }
    await write(raw, filled);
  }

  return (pieces, { dropRows = false } = {}) =>
    new Promise((resolve, reject) => {
      if (!isRaw(connection)) throw new Error('the driver sends no packets of its own');
      let head: Uint8Array | null = null;
      connection.writePacket = (packet) => {
        head = packet.buffer.subarray(HEADER_BYTES);
      };
      try {
        if (dropRows) endOf(connection, { resolve, reject });
        else connection.query<ResultSetHeader>('', (error, result) => (error ? reject(error) : resolve(result)));
      } finally {
        // That of the class again.
        Reflect.deleteProperty(connection, 'writePacket');
      }
      if (head === null) return;
      writeAll(connection, head, pieces).catch((error) => {
        // An error message of the server arrives before the end of the connection.
        setImmediate(() => {
          reject(error);
          connection.destroy();
        });
      });
    });
}

interface Settlement {
  resolve(header: ResultSetHeader): void;
  reject(error: Error): void;
}

/** Without a callback the driver keeps no rows, and tells the loss of the connection by an event of the connection only. */
function endOf(connection: Connection, { resolve, reject }: Settlement): void {
  let header: ResultSetHeader | undefined;
  connection.once('error', reject);
  const query = connection.query('');
  query.on('error', (error) => {
    connection.off('error', reject);
    reject(error);
  });
  query.on('result', (result: ResultSetHeader) => {
    header = result;
  });
  query.on('end', () => {
    connection.off('error', reject);
    resolve(header as ResultSetHeader);
  });
}

/** Grows on demand: small statements need no full packet. */
function withRoom(buffer: Buffer<ArrayBuffer>, filled: number, needed: number): Buffer<ArrayBuffer> {
  if (needed <= buffer.length) return buffer;
  const larger = Buffer.allocUnsafeSlow(HEADER_BYTES + FULL_PACKET);
  larger.set(buffer.subarray(0, HEADER_BYTES + filled));
  return larger;
}
