import { type KeyObject, sign, verify } from 'node:crypto';
import * as v from 'valibot';
import { ENGINE_IDS } from '../../engines/list.ts';
import { ManifestInvalid } from '../manifest/manifest.ts';
import { canonicalText, publicKeyText, readPublicKey } from '../manifest/signature.ts';
import { count, list, name, sha256, snapshotId, time } from '../manifest/values.ts';
import { MOST_TEXT_BYTES } from '../store/store.ts';

const LONGEST_PATH = 1024;
const LONGEST_FACT = 1024;
/** More are read than are written, so that a later version may write larger ones. */
const MOST_CHUNK_BYTES = 8 * 1024 * 1024;
/** Bytes of the ranges that no chunk has, at most. */
const MOST_SPARSE_BYTES = 1024 ** 3;

const fact = v.pipe(name, v.nonEmpty('must not be empty'), v.maxLength(LONGEST_FACT, 'is too long'));

/** Below the data directory: no name is absolute, hidden, `.` or `..`. */
const path = v.pipe(
  v.string(),
  v.maxLength(LONGEST_PATH, 'is too long'),
  v.regex(/^[\w#$@+-][\w#$@+.-]*(\/[\w#$@+-][\w#$@+.-]*)*$/, 'must be a plain relative path'),
);

const piece = v.strictObject({ file: count, offset: count, bytes: v.pipe(count, v.minValue(1, 'must not be empty')) });

const factEntries = {
  format: v.literal(1),
  /** The snapshot, as its manifest names it. */
  target: name,
  snapshot: snapshotId,
  created_at: time,
  engine: v.picklist(ENGINE_IDS),
  database: fact,
  /** Version of the server programs. */
  version: fact,
  architecture: fact,
  platform: fact,
  /** Providers and versions. */
  collations: v.pipe(name, v.maxLength(LONGEST_FACT, 'is too long')),
  /** Names and versions. */
  extensions: list(fact),
};

const imageSchema = v.strictObject({
  ...factEntries,
  folders: list(path),
  files: list(v.strictObject({ path, bytes: count })),
  /** The content of a chunk is that of its pieces, one after another. What no piece has is zero. */
  chunks: list(v.strictObject({ sha256, pieces: v.pipe(list(piece), v.nonEmpty('must not be empty')) })),
  signature: v.strictObject({ key: v.string(), value: v.string() }),
});

/** The data directory of a server that has loaded a snapshot, in chunks beside those of the snapshot. */
export type ImageManifest = v.InferOutput<typeof imageSchema>;
export type ImageChunk = ImageManifest['chunks'][number];
export type ImageContent = Pick<ImageManifest, 'folders' | 'files' | 'chunks'>;
export type ImageFacts = Omit<ImageManifest, keyof ImageContent | 'signature'>;

/** The only way from text to the manifest of an image. Throws ManifestInvalid. */
export function parseImageManifest(text: string): ImageManifest {
  if (Buffer.byteLength(text) > MOST_TEXT_BYTES) throw new ManifestInvalid('it is too large');
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), imageSchema), text, { abortEarly: true });
  if (!parsed.success) {
    const [issue] = parsed.issues;
    const where = (issue.path ?? [])
      .map(({ key }) =>
        String(key)
          .replaceAll(/[^\w-]/g, '?')
          .slice(0, 64),
      )
      .join('.');
    throw new ManifestInvalid(`${where} ${issue.kind === 'schema' ? 'has another form' : issue.message}`.trim());
  }
  assertSound(parsed.output);
  return parsed.output;
}

function assertSound({ folders, files, chunks }: ImageContent): void {
  const paths = [...folders, ...files.map((file) => file.path)];
  const known = new Set(paths);
  if (known.size !== paths.length) throw new ManifestInvalid('two files have the same path');
  const isFolder = new Set(folders);
  const isLost = (one: string): boolean => one.includes('/') && !isFolder.has(one.slice(0, one.lastIndexOf('/')));
  if (paths.some(isLost)) throw new ManifestInvalid('a file is in no folder');
  const sizes = new Map<string, number>();
  for (const { sha256, pieces } of chunks) {
    const bytes = chunkBytes({ pieces });
    if (bytes > MOST_CHUNK_BYTES) throw new ManifestInvalid('a chunk is too large');
    if (bytes !== (sizes.get(sha256) ?? bytes)) throw new ManifestInvalid('a chunk has two sizes');
    sizes.set(sha256, bytes);
  }
  const pieces = chunks.flatMap((chunk) => chunk.pieces);
  pieces.sort((a, b) => a.file - b.file || a.offset - b.offset);
  let [last, end] = [-1, 0];
  for (const { file, offset, bytes } of pieces) {
    if (offset + bytes > (files[file]?.bytes ?? 0)) throw new ManifestInvalid('a chunk is outside its file');
    if (file === last && offset < end) throw new ManifestInvalid('two chunks are at the same place');
    [last, end] = [file, offset + bytes];
  }
  const sparse = bytesOf(files) - bytesOf(pieces);
  if (sparse > MOST_SPARSE_BYTES) throw new ManifestInvalid('its files are larger than its chunks');
}

function bytesOf(parts: { bytes: number }[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Names an image among those of its snapshot: `15-linux-x64`. */
export function imageName(major: string, { platform, arch }: { platform: string; arch: string }): string {
  return [major, platform, arch].join('-');
}

export function chunkBytes({ pieces }: Pick<ImageChunk, 'pieces'>): number {
  return bytesOf(pieces);
}

export function signImage(image: Omit<ImageManifest, 'signature'>, privateKey: KeyObject): ImageManifest {
  const value = sign(null, signedText(image), privateKey).toString('base64');
  return { ...image, signature: { key: publicKeyText(privateKey), value } };
}

/** Returns the key that has signed the image; `null` for a signature that does not match. */
export function signerOf({ signature: { key, value }, ...image }: ImageManifest): string | null {
  const publicKey = readPublicKey(key);
  return publicKey && verify(null, signedText(image), publicKey, Buffer.from(value, 'base64')) ? key : null;
}

/** The first line makes the signature invalid in any other context. */
function signedText(image: Omit<ImageManifest, 'signature'>): Buffer {
  return Buffer.from(`tool shared image 1\n${canonicalText(image)}`);
}
