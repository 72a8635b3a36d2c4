import { createWriteStream } from 'node:fs';
import { finished, pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { type Entry, type ZipFile as OpenZipFile, open } from 'yauzl';
import { ZipFile } from 'yazl';
import { EXIT, UserError } from '../errors.ts';
import { filesOf, objectKey } from './catalogue.ts';
import { type Manifest, manifestSchema } from './manifest.ts';

/** A snapshot as one file: a plain zip, stored, of the manifest and its objects under the keys they have anywhere. */
const MANIFEST = 'manifest.json';

/** A manifest is no larger. */
const MANIFEST_BYTES = 256 * 1024 * 1024;

export interface ArchiveWriting {
  manifest: Manifest;
  /** The path of an object. */
  object: (file: { sha256: string; bytes: number }) => { path: string };
  signal: AbortSignal;
  onBytes: (bytes: number) => void;
}

/** Writes a snapshot to a new file, which is removed again by whoever asked when it rejects. */
export async function writeArchive(path: string, { manifest, object, signal, onBytes }: ArchiveWriting): Promise<void> {
  const zip = new ZipFile();
  // Equal snapshots give equal files.
  const mtime = new Date(manifest.created_at);
  const options = { compress: false, mtime, mode: 0o100600 };
  zip.addBuffer(Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`), MANIFEST, options);
  const distinct = new Map(filesOf(manifest).map((file) => [file.sha256, file]));
  for (const file of distinct.values()) zip.addFile(object(file).path, objectKey(file.sha256), options);
  zip.end();
  const failed = new Promise<never>((_, reject) => zip.on('error', reject));
  const output = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  zip.outputStream.on('data', (chunk: Buffer) => onBytes(chunk.length));
  await Promise.race([pipeline(zip.outputStream, output, { signal }), failed]);
}

export interface OpenArchive extends AsyncDisposable {
  manifest: Manifest;
  /** Copies an object of it to a new file. */
  extract(sha256: string, path: string, options: { signal: AbortSignal }): Promise<void>;
}

/** Opens what `writeArchive` has written; a UserError when it is something else. */
export async function openArchive(path: string): Promise<OpenArchive> {
  const zip = await promisify<string, { lazyEntries: boolean; autoClose: boolean }, OpenZipFile>(open)(path, {
    lazyEntries: true,
    autoClose: false,
  }).catch((cause) => {
    throw noArchive(path, cause);
  });
  try {
    const entries = await readEntries(zip);
    const manifest = await readManifest(zip, entries).catch((cause) => {
      throw noArchive(path, cause);
    });
    return {
      manifest,
      async extract(sha256, destination, { signal }) {
        const entry = entries.get(objectKey(sha256));
        if (!entry) throw new Error('the object is missing');
        const output = createWriteStream(destination, { flags: 'wx', mode: 0o600, flush: true });
        await pipeline(await openEntry(zip, entry), output, { signal });
      },
      [Symbol.asyncDispose]: async () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error;
  }
}

async function readEntries(zip: OpenZipFile): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  zip.on('entry', (entry) => {
    entries.set(entry.fileName, entry);
    zip.readEntry();
  });
  const ended = new Promise<void>((resolve, reject) => {
    zip.once('end', resolve);
    zip.once('error', reject);
  });
  zip.readEntry();
  await ended;
  return entries;
}

async function readManifest(zip: OpenZipFile, entries: Map<string, Entry>): Promise<Manifest> {
  const entry = entries.get(MANIFEST);
  if (!entry || entry.uncompressedSize > MANIFEST_BYTES) throw new Error(`it has no ${MANIFEST}`);
  const stream = await openEntry(zip, entry);
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await finished(stream);
  return v.parse(manifestSchema, JSON.parse(Buffer.concat(chunks).toString()));
}

function openEntry(zip: OpenZipFile, entry: Entry) {
  return promisify(zip.openReadStream.bind(zip) as (entry: Entry, done: OpenedStream) => void)(entry);
}

type OpenedStream = (error: Error | null, stream: NodeJS.ReadableStream & import('node:stream').Readable) => void;

function noArchive(path: string, cause: unknown): UserError {
  const { message, code } = cause as NodeJS.ErrnoException;
  if (code === 'ENOENT') {
    return new UserError(`There is no file ${path}`, {
      code: 'file_missing',
      exit: EXIT.usage,
      hint: 'Is the path right?',
      cause,
    });
  }
  return new UserError(`${path} is not a snapshot that was exported: ${message}`, {
    code: 'archive_not_understood',
    exit: EXIT.failed,
    hint: 'tool export writes such files.',
    cause,
  });
}
