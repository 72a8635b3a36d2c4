import type { Connection } from 'mysql2';

/** A row of so many bytes never arrives in one chunk of the socket. */
const LONG_ROW_BYTES = 64 * 1024;
/** Payload bytes of a full packet; a shorter one, which may be empty, ends the row. */
const FULL_PACKET = 0xff_ff_ff;
/** Three bytes of the length, and the number of the packet. */
const HEADER_BYTES = 4;

export interface LongRowTaker {
  takePart(part: Uint8Array): void;
  endRow(): void;
}

interface ChunkTaker {
  execute(chunk: Uint8Array): unknown;
}

/** The driver's parser: `buffer` has what has arrived of an incomplete packet, behind its length. */
interface PacketParser extends ChunkTaker {
  executeStart: ChunkTaker['execute'];
  buffer: Uint8Array[];
  length: number;
}

/** Members of the driver's connection that its types omit. */
interface ParsedConnection extends Connection {
  packetParser: ChunkTaker;
  _bumpSequenceId(packets: number): void;
}

function isPacketParser(parser: ChunkTaker): parser is PacketParser {
  return 'executeStart' in parser && 'buffer' in parser && 'length' in parser;
}

function isParsed(connection: Connection): connection is ParsedConnection {
  return 'packetParser' in connection && '_bumpSequenceId' in connection;
}

/**
 * Takes the long rows of the running query out of the packets as they arrive; the driver would keep two copies of each.
 * Nothing else of its answer is as long. Returns a function that ends this.
 */
export function divertLongRows(connection: Connection, taker: LongRowTaker): () => void {
  if (!isParsed(connection) || !isPacketParser(connection.packetParser)) throw new Error('the driver shows no packets');
  const parser = connection.packetParser;
  connection.packetParser = new LongRowParser(parser, taker, (packets) => connection._bumpSequenceId(packets));
  return () => {
    connection.packetParser = parser;
  };
}

class LongRowParser implements ChunkTaker {
  readonly #parser: PacketParser;
  readonly #taker: LongRowTaker;
  readonly #onRow: (packets: number) => void;
  /** Packets of the current row, of which the last may be incomplete; 0 between long rows. */
  #packets = 0;
  #headerLeft = 0;
  #length = 0;
  #left = 0;

  constructor(parser: PacketParser, taker: LongRowTaker, onRow: (packets: number) => void) {
    this.#parser = parser;
    this.#taker = taker;
    this.#onRow = onRow;
  }

  execute(chunk: Uint8Array): void {
    if (this.#packets === 0) {
      const { buffer, length } = this.#parser;
      // Between two chunks the driver has handled all packets before this one, also those that waited in a pause.
      if (buffer.length === 0 || length < LONG_ROW_BYTES) return void this.#parser.execute(chunk);
      Object.assign(this.#parser, { buffer: [], bufferLength: 0, execute: this.#parser.executeStart });
      this.#packets = 1;
      this.#headerLeft = 1;
      this.#length = length;
      for (const arrived of buffer) this.#take(arrived);
    }
    this.#take(chunk);
  }

  #take(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length; ) {
      if (this.#headerLeft > 0) {
        if (this.#headerLeft > 1) this.#length += (chunk[from] as number) * 256 ** (HEADER_BYTES - this.#headerLeft);
        from += 1;
        this.#headerLeft -= 1;
        this.#left = this.#length;
        if (this.#headerLeft > 0 || this.#left > 0) continue;
      } else {
        const part = chunk.subarray(from, from + this.#left);
        this.#taker.takePart(part);
        from += part.length;
        this.#left -= part.length;
        if (this.#left > 0) continue;
      }
      if (this.#length < FULL_PACKET) {
        this.#endRow(chunk.subarray(from));
        return;
      }
      this.#packets += 1;
      this.#headerLeft = HEADER_BYTES;
      this.#length = 0;
    }
  }

  #endRow(rest: Uint8Array): void {
    this.#onRow(this.#packets);
    this.#packets = 0;
    this.#taker.endRow();
    if (rest.length > 0) this.#parser.execute(rest);
  }
}
