import { hkdfSync } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Checksum } from '../objects/checksum.ts';
import { contentBytes, createOpener, createSealer, sealedBytes } from './sealed-format.ts';
import { openName, sealName } from './sealed-names.ts';

export interface Envelope {
  nameOf(key: string): string;
  keyOf(name: string): string | null;
  contentBytes(stored: number): number;
  seal(key: string, content: Buffer): Buffer;
  /** Throws SealBroken for changed content. */
  open(key: string, stored: Buffer): Buffer;
  source(key: string, passing: TransferFile): Promise<StoredSource>;
  sink(key: string, passing: TransferFile & { total: number }): Sink;
}

export interface TransferFile {
  file: FileHandle;
  checksum: Checksum;
}

/** A file in its stored encoding; can be read concurrently and repeatedly. */
export interface StoredSource {
  bytes: number;
  isClear: boolean;
  /** Fills the buffer from `start`, a multiple of 64 kB. */
  read<Bytes extends Buffer>(start: number, buffer: Bytes): Promise<Bytes>;
}

/** A local file from stored bytes: its beginning first, the rest in any order. */
export interface Sink {
  /**
   * Writes whole chunks of 64 kB (except at the end) from `start`; returns the bytes of content. May overwrite the
   * buffer.
   */
  write(bytes: Buffer, start: number): Promise<number>;
}

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

/** Reveals only the number, sizes and times of objects. */
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

async function readWhole({ file, checksum }: TransferFile, start: number, buffer: Buffer): Promise<void> {
  await readFully(file, buffer, start);
  checksum.update(buffer, start);
}

export async function readFully(file: FileHandle, buffer: Buffer, position: number): Promise<void> {
  for (let filled = 0; filled < buffer.length; ) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, position + filled);
    if (bytesRead === 0) throw new Error('the file became shorter while it was read');
    filled += bytesRead;
  }
}

async function writeWhole({ file, checksum }: TransferFile, bytes: Buffer, position: number): Promise<void> {
  await writeFully(file, bytes, position);
  checksum.update(bytes, position);
}

export async function writeFully(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
  }
}
