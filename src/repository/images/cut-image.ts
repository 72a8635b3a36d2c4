import { hash } from 'node:crypto';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { readFully } from '../encryption/envelope.ts';
import { chunkBytes, type ImageChunk, type ImageContent } from './image-manifest.ts';

/**
 * Pieces of files at multiples of 1 MB: of 8 MB, the image of the next day adds up to 2.4 times what its snapshot adds.
 * test/bench/README.md#images
 */
const BLOCK_BYTES = 1024 * 1024;
/** Smaller pieces of one folder share a chunk. */
const SMALL_BYTES = 128 * 1024;
const PAGE_BYTES = 8192;
const ZERO_PAGE = Buffer.alloc(PAGE_BYTES);

/** Decides which files belong to an image. */
export interface ImageParts {
  isData(path: string): boolean;
  isFolder(path: string): boolean;
}

interface CutOptions {
  parts: ImageParts;
  signal: AbortSignal;
}

/** Cuts a directory into chunks. Links and other files are left out, and so are zero pages around what is stored. */
export async function cutImage(directory: string, { parts, signal }: CutOptions): Promise<ImageContent> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const named = entries.map((entry) => ({ entry, path: relative(directory, join(entry.parentPath, entry.name)) }));
  const folders = pathsOf(named.filter(({ entry, path }) => entry.isDirectory() && parts.isFolder(path))).sort();
  const paths = pathsOf(named.filter(({ entry, path }) => entry.isFile() && parts.isData(path))).sort(byPlace);
  const files: ImageContent['files'] = [];
  const chunks: ImageChunk[] = [];
  const small = createGroup();
  const add = (group: Group | null): void => {
    if (group) chunks.push({ sha256: hash('sha256', Buffer.concat(group.contents)), pieces: group.pieces });
  };
  let folder = '';
  for (const [index, path] of paths.entries()) {
    if (folder !== folderOf(path)) add(small.take());
    folder = folderOf(path);
    await using file = await open(join(directory, path));
    const { size } = await file.stat();
    files.push({ path, bytes: size });
    for (let start = 0; start < size; start += BLOCK_BYTES) {
      signal.throwIfAborted();
      const { offset, content } = await readBlock(file, start, Math.min(BLOCK_BYTES, size - start));
      if (content.length === 0) continue;
      const piece = { file: index, offset, bytes: content.length };
      if (content.length >= SMALL_BYTES) add({ contents: [content], pieces: [piece] });
      else add(small.add(content, piece));
    }
  }
  add(small.take());
  return { folders, files, chunks };
}

function pathsOf(found: { path: string }[]): string[] {
  return found.map(({ path }) => path);
}

/** Shorter names first: those of the catalog, then those of tables in the order of their creation. */
function byPlace(a: string, b: string): number {
  const [one, other] = [folderOf(a), folderOf(b)];
  if (one !== other) return one < other ? -1 : 1;
  return a.length - b.length || (a < b ? -1 : 1);
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

interface Group {
  contents: Buffer[];
  pieces: ImageChunk['pieces'];
}

function createGroup() {
  let group: Group = { contents: [], pieces: [] };
  const take = (): Group | null => {
    const taken = group;
    group = { contents: [], pieces: [] };
    return taken.pieces.length > 0 ? taken : null;
  };
  return {
    take,
    /** Returns the group that is full. */
    add(content: Buffer, piece: ImageChunk['pieces'][number]): Group | null {
      const full = chunkBytes(group) + content.length > BLOCK_BYTES ? take() : null;
      group.contents.push(content);
      group.pieces.push(piece);
      return full;
    },
  };
}

/** Without the zero pages at its beginning and end. */
async function readBlock(file: FileHandle, start: number, bytes: number): Promise<{ offset: number; content: Buffer }> {
  const block = Buffer.allocUnsafe(bytes);
  await readFully(file, block, start);
  const isZero = (from: number): boolean => {
    const page = block.subarray(from, from + PAGE_BYTES);
    return page.equals(ZERO_PAGE.subarray(0, page.length));
  };
  let [from, to] = [0, bytes];
  while (to > from && isZero(Math.floor((to - 1) / PAGE_BYTES) * PAGE_BYTES)) {
    to = Math.floor((to - 1) / PAGE_BYTES) * PAGE_BYTES;
  }
  while (from < to && isZero(from)) from += PAGE_BYTES;
  return { offset: start + from, content: block.subarray(from, to) };
}

/** Reads a chunk from the files that have it; `null` where they have another content. */
export async function readChunk(
  directory: string,
  { files }: Pick<ImageContent, 'files'>,
  { sha256, pieces }: ImageChunk,
): Promise<Buffer<ArrayBuffer> | null> {
  const content = Buffer.allocUnsafeSlow(chunkBytes({ pieces }));
  let at = 0;
  for (const { file, offset, bytes } of pieces) {
    await using source = await open(join(directory, files[file]?.path ?? ''));
    await readFully(source, content.subarray(at, at + bytes), offset);
    at += bytes;
  }
  return hash('sha256', content) === sha256 ? content : null;
}
