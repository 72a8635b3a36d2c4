import { createWriteStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { type Entry, type ZipFile as OpenZipFile, open } from 'yauzl';
import { ZipFile } from 'yazl';
import { UserError } from '../runtime/errors.ts';
import { type Manifest, type ManifestFile, manifestText, parseManifest } from './manifest/manifest.ts';
import { largestObject } from './objects/object-format.ts';
import { filesOf } from './repository.ts';
import { isObjectKey, objectKey } from './store/keys.ts';
import { MOST_TEXT_BYTES, TooLarge } from './store/store.ts';
import { distinct } from './transfer.ts';

/** A snapshot as one file: an uncompressed zip of the manifest and its objects under their keys. */
const MANIFEST = 'manifest.json';

const MOST_ENTRIES = 1_000_000;

export interface ArchiveWriteOptions {
  manifest: Manifest;
  object: (file: { sha256: string; bytes: number }) => { path: string };
  signal: AbortSignal;
  onBytes: (bytes: number) => void;
}

export async function writeArchive(
  path: string,
  { manifest, object, signal, onBytes }: ArchiveWriteOptions,
): Promise<void> {
  const zip = new ZipFile();
  // Equal snapshots give equal files.
  const mtime = new Date(manifest.created_at);
  const options = { compress: false, mtime, mode: 0o100600 };
  zip.addBuffer(Buffer.from(manifestText(manifest)), MANIFEST, options);
  for (const file of distinct(filesOf(manifest))) zip.addFile(object(file).path, objectKey(file.sha256), options);
  zip.end();
  const failed = new Promise<never>((_, reject) => zip.on('error', reject));
  const output = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  zip.outputStream.on('data', (chunk: Buffer) => onBytes(chunk.length));
  await Promise.race([pipeline(zip.outputStream, output, { signal }), failed]);
}

export interface OpenArchive extends AsyncDisposable {
  manifest: Manifest;
  /** Copies an object to a new file; rejects an object larger than its content permits. */
  extract(file: ManifestFile, path: string, options: { signal: AbortSignal }): Promise<void>;
}

export async function openArchive(path: string): Promise<OpenArchive> {
  const zip = await promisify<string, { lazyEntries: boolean; autoClose: boolean }, OpenZipFile>(open)(path, {
    lazyEntries: true,
    autoClose: false,
  }).catch((cause) => {
    throw noArchive(path, cause);
  });
  try {
    const entries = await readEntries(zip);
    const manifest = await readManifest(zip, entries);
    return {
      manifest,
      async extract({ sha256, bytes }, destination, { signal }) {
        const entry = entries.get(objectKey(sha256));
        if (!entry) throw new Error('the object is missing');
        // The reader rejects more bytes than the entry declares.
        if (entry.uncompressedSize > largestObject(bytes)) throw new TooLarge();
        const output = createWriteStream(destination, { flags: 'wx', mode: 0o600, flush: true });
        await pipeline(await openEntry(zip, entry), output, { signal });
      },
      [Symbol.asyncDispose]: async () => zip.close(),
    };
  } catch (cause) {
    zip.close();
    throw noArchive(path, cause);
  }
}

async function readEntries(zip: OpenZipFile): Promise<Map<string, Entry>> {
  if (zip.entryCount > MOST_ENTRIES) throw new TooLarge();
  const entries = new Map<string, Entry>();
  const ended = new Promise<void>((resolve, reject) => {
    zip.on('entry', (entry) => {
      const name = entry.fileName;
      if (entries.has(name)) return reject(new Error('it has two entries of the same name'));
      if (name === MANIFEST || isObjectKey(name)) entries.set(name, entry);
      zip.readEntry();
    });
    zip.once('end', resolve);
    zip.on('error', reject);
  });
  zip.readEntry();
  await ended;
  return entries;
}

async function readManifest(zip: OpenZipFile, entries: Map<string, Entry>): Promise<Manifest> {
  const entry = entries.get(MANIFEST);
  if (!entry) throw new Error(`it has no ${MANIFEST}`);
  if (entry.uncompressedSize > MOST_TEXT_BYTES) throw new TooLarge();
  return parseManifest((await buffer(await openEntry(zip, entry))).toString());
}

function openEntry(zip: OpenZipFile, entry: Entry) {
  return promisify(zip.openReadStream.bind(zip) as (entry: Entry, done: OpenedStream) => void)(entry);
}

type OpenedStream = (error: Error | null, stream: NodeJS.ReadableStream & import('node:stream').Readable) => void;

function noArchive(path: string, cause: unknown): UserError {
  const { code } = cause as NodeJS.ErrnoException;
  // The message may quote a name from the file.
  const message = (cause as Error).message.replaceAll(/\p{Cc}/gu, ' ');
  if (code === 'ENOENT') {
    return new UserError('file_missing', `File not found: ${path}`, { hint: 'Check the path.', cause });
  }
  return new UserError('archive_not_understood', `${path} is not an exported snapshot: ${message}`, {
    hint: 'Create one: tool export. Dumps are recognised by the first lines of pg_dump, mysqldump and mariadb-dump.',
    cause,
  });
}
