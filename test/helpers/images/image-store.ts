import {
  chownSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from '../../../src/process/runner.ts';
import { FRAME_BYTES } from '../../../src/repository/objects/object-format.ts';
import { createObjectPool } from '../../../src/repository/objects/object-pool.ts';
import { createPacker, type PackResult } from '../../../src/repository/objects/pack-object.ts';
import { piecesOf } from './cut.ts';

export interface StoredImage {
  files: { path: string; bytes: number; chunks: { offset: number; object: PackResult & { path: string } }[] }[];
  folders: string[];
  bytes: number;
  storedBytes: number;
}

/** Stores the chunks of a directory. */
export function storeImage(image: string, objects: string): StoredImage {
  const stored: StoredImage = { files: [], folders: [], bytes: 0, storedBytes: 0 };
  mkdirSync(objects);
  for (const entry of readdirSync(image, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(image.length + 1);
    if (entry.isDirectory()) stored.folders.push(path);
  }
  stored.folders.sort();
  for (const { file, offset, bytes } of piecesOf(image)) {
    if (offset === 0) stored.files.push({ path: file, bytes: 0, chunks: [] });
    const of = stored.files.at(-1);
    if (!of) throw new Error(file);
    of.bytes = offset + bytes.length;
    stored.bytes += bytes.length;
    if (bytes.length === 0 || bytes.equals(Buffer.alloc(bytes.length))) continue;
    const packer = createPacker(null);
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += FRAME_BYTES) parts.push(packer.add(bytes.subarray(at, at + FRAME_BYTES)));
    const { table, packed } = packer.finish();
    const path = join(objects, packed.sha256);
    writeFileSync(path, Buffer.concat([...parts, table]));
    stored.storedBytes += packed.storedBytes;
    of.chunks.push({ offset, object: { ...packed, path } });
  }
  return stored;
}

/** Two threads decompress and verify; one writes. */
export async function assemble(
  user: Command['user'],
  { files, folders, bytes }: StoredImage,
  to: string,
): Promise<string> {
  await using pool = createObjectPool(2, { expectedBytes: bytes });
  const own = (path: string): void => {
    if (user) chownSync(path, user.uid, user.gid);
  };
  mkdirSync(to, { mode: 0o700 });
  own(to);
  for (const folder of folders) {
    mkdirSync(join(to, folder), { mode: 0o700 });
    own(join(to, folder));
  }
  const next = files.values();
  const work = async (): Promise<void> => {
    for (const { path, bytes: size, chunks } of next) {
      const output = openSync(join(to, path), 'wx', 0o600);
      for (const { offset, object } of chunks) {
        let at = offset;
        for await (const frame of pool.read(object)) at += writeSync(output, frame, 0, frame.length, at);
      }
      closeSync(output);
      truncateSync(join(to, path), size);
      own(join(to, path));
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return to;
}

export function copyTree(
  user: Command['user'],
  { from, to, flag }: { from: string; to: string; flag: number },
): string {
  const own = (path: string): void => {
    if (user) chownSync(path, user.uid, user.gid);
  };
  mkdirSync(to, { mode: 0o700 });
  own(to);
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const path = join(to, join(entry.parentPath, entry.name).slice(from.length + 1));
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (entry.isDirectory()) mkdirSync(path, { recursive: true, mode: 0o700 });
    else copyFileSync(join(entry.parentPath, entry.name), path, flag);
    own(path);
  }
  return to;
}
