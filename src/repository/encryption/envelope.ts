import { hkdfSync } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Checksum } from '../objects/checksum.ts';
import { contentBytes, createOpener, createSealer, sealedBytes } from './sealed-format.ts';
import { openName, sealName } from './sealed-names.ts';

/** What content is put into before it leaves this machine: nothing, or encryption. */
export interface Envelope {
  /** What a key is called in the bucket. */
  nameOf(key: string): string;
  /** The key of a name; `null` when we have not made it. */
  keyOf(name: string): string | null;
  /** How much content there is in what lies in the bucket. */
  contentBytes(stored: number): number;
  seal(key: string, content: Buffer): Buffer;
  /** Throws a SealBroken when it is not what was sealed. */
  open(key: string, stored: Buffer): Buffer;
  source(key: string, passing: Passing): Promise<Source>;
  /** `total` is how many bytes lie in the bucket. */
  sink(key: string, passing: Passing & { total: number }): Sink;
}

/** A file of this machine, and what sees its content go by. */
export interface Passing {
  file: FileHandle;
  checksum: Checksum;
}

/** A file as it is to lie in the bucket, to be read from several places at once, as often as a transfer needs. */
export interface Source {
  bytes: number;
  /** Whether it is to lie there as it is here. */
  isClear: boolean;
  /** Fills the buffer with what begins at `start`, a multiple of 64 kB. */
  read<Bytes extends Buffer>(start: number, buffer: Bytes): Promise<Bytes>;
}

/** A file to be made of what lies in the bucket: its beginning first, then in any order. */
export interface Sink {
  /** Takes what begins at `start`, whole chunks of 64 kB but at the end; how much content that was. May use the memory. */
  write(bytes: Buffer, start: number): Promise<number>;
}

/** Everything lies in the bucket as it is. */
export const clearEnvelope: Envelope = {
  nameOf: (key) => key,
  keyOf: (name) => name,
  contentBytes: (stored) => stored,
  seal: (_key, content) => content,
  open: (_key, stored) => stored,
  async source(_key, passing) {
    const { size } = await passing.file.stat();
    return {
      bytes: size,
      isClear: true,
      async read(start, buffer) {
        await readWhole(passing, start, buffer);
        return buffer;
      },
    };
  },
  sink: (_key, passing) => ({
    async write(bytes, start) {
      await writeWhole(passing, bytes, start);
      return bytes.length;
    },
  }),
};

/** Nobody who sees the bucket learns more than how many things there are, how large and how old. */
export function sealedEnvelope(secretKey: string): Envelope {
  const master = Buffer.from(secretKey, 'hex');
  const derive = (use: string): Uint8Array => new Uint8Array(hkdfSync('sha256', master, '', `tool storage ${use}`, 32));
  const names = { hash: derive('name hash'), cipher: derive('name cipher') };
  const key = derive('content');
  return {
    nameOf: (plain) => sealName(plain, names),
    keyOf: (name) => openName(name, names),
    contentBytes,
    seal(name, content) {
      const sealed = Buffer.alloc(sealedBytes(content.length));
      content.copy(sealed, sealed.length - content.length);
      createSealer({ key, name, total: sealed.length }).seal(sealed, 0);
      return sealed;
    },
    open: (name, stored) => createOpener({ key, name, total: stored.length }).open(stored, 0),
    async source(name, passing) {
      const bytes = sealedBytes((await passing.file.stat()).size);
      const sealer = createSealer({ key, name, total: bytes });
      return {
        bytes,
        isClear: false,
        async read(start, buffer) {
          const from = contentBytes(start);
          const length = contentBytes(start + buffer.length) - from;
          await readWhole(passing, from, buffer.subarray(buffer.length - length));
          sealer.seal(buffer, start);
          return buffer;
        },
      };
    },
    sink(name, { total, ...passing }) {
      const opener = createOpener({ key, name, total });
      return {
        async write(bytes, start) {
          const content = opener.open(bytes, start);
          await writeWhole(passing, content, contentBytes(start));
          return content.length;
        },
      };
    },
  };
}

async function readWhole({ file, checksum }: Passing, start: number, buffer: Buffer): Promise<void> {
  for (let filled = 0; filled < buffer.length; ) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, start + filled);
    if (bytesRead === 0) throw new Error('the file became shorter while it was sent');
    filled += bytesRead;
  }
  checksum.update(buffer, start);
}

async function writeWhole({ file, checksum }: Passing, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
  }
  checksum.update(bytes, position);
}
