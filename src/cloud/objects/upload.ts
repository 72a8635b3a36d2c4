import { type FileHandle, open } from 'node:fs/promises';
import { ContentDiffers, createChecksum } from '../../repository/objects/checksum.ts';
import { isMissing } from '../../repository/s3/errors.ts';
import { hashFile } from '../../repository/store/folder.ts';
import type { Transfer } from '../../repository/store/store.ts';
import { UserError } from '../../runtime/errors.ts';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import type { CloudClient } from '../client.ts';
import { queryBucket, statusOf } from './bucket-answer.ts';
import { checkedHeaders, checkedHref } from './href.ts';
import type { Send } from './send.ts';
import type { UnfinishedUploads } from './unfinished-uploads.ts';
import type { OutgoingObject, UploadAnswer, UploadUrls } from './upload-urls.ts';
import type { Verify } from './verifier.ts';

export interface UploadOptions {
  /** Name of the remote repository. */
  name: string;
  client: CloudClient;
  urls: UploadUrls;
  verify: Verify;
  send: Send;
  unfinished: UnfinishedUploads;
}

export interface OutgoingFile extends Transfer {
  path: string;
  /** SHA-256 of the content: the name of the object. */
  sha256: string;
  /** SHA-256 of the file; rejects with ContentDiffers when it is another. Default: the file's own. */
  stored_sha256: string | undefined;
}

/** Rounds of sending and verifying one object. */
const ROUNDS = 3;

const PARTS_AT_ONCE = 4;

/** Bounds of the S3 protocol. */
const SMALLEST_PART = 5 * 1024 * 1024;
const MOST_PARTS = 1000;

/** Sends a file to the bucket by URLs of the hub until the hub confirms it. A stored object is not sent. */
export async function uploadObject(outgoing: OutgoingFile, uploading: UploadOptions): Promise<void> {
  const { path, sha256, signal } = outgoing;
  await using file = await open(path);
  const stored_bytes = (await file.stat()).size;
  const stored_sha256 = outgoing.stored_sha256 ?? (await hashFile(path));
  for (let round = 1; ; round += 1) {
    signal.throwIfAborted();
    const object: OutgoingObject = { sha256, stored_sha256, stored_bytes };
    const sending = { ...outgoing, file, object };
    let sent = 0;
    const onBytes = (bytes: number): void => {
      sent += bytes;
      outgoing.onBytes(bytes);
    };
    const isStored = await sendOnce({ ...sending, onBytes }, uploading);
    if (isStored) return uploading.urls.forget(sha256);
    outgoing.onBytes(-sent);
    uploading.urls.forget(sha256);
    await uploading.unfinished.remove(sha256);
    if (round === ROUNDS) throw notStored(uploading.name);
  }
}

interface OpenedFile extends OutgoingFile {
  file: FileHandle;
  object: OutgoingObject;
}

/** `false` when the hub does not find the object as sent. */
async function sendOnce(outgoing: OpenedFile, uploading: UploadOptions): Promise<boolean> {
  const { object } = outgoing;
  const begun = await begunUpload(outgoing, uploading);
  const answer = await uploading.urls.find(begun ? { ...object, upload_id: begun.upload_id } : object);
  if (answer === null) {
    await uploading.unfinished.remove(object.sha256);
    return true;
  }
  const verdict =
    answer.answer === 'upload'
      ? await sendWhole(outgoing, uploading)
      : await sendParts(outgoing, {
          ...uploading,
          answer,
          etags: begun?.upload_id === answer.upload_id && begun.part_bytes === answer.part_bytes ? begun.etags : {},
        });
  return verdict === 'stored';
}

/** The upload in parts that an earlier push has begun with this file. */
export async function begunUpload(
  { object: { sha256, stored_sha256, stored_bytes } }: Pick<OpenedFile, 'object'>,
  { unfinished }: Pick<UploadOptions, 'unfinished'>,
) {
  const found = await unfinished.find(sha256);
  return found?.stored_sha256 === stored_sha256 && found.stored_bytes === stored_bytes ? found : null;
}

async function sendWhole(outgoing: OpenedFile, { name, client, urls, send, verify }: UploadOptions) {
  const { file, object, signal, onBytes } = outgoing;
  const checksum = createPassingChecksum(file, object.stored_bytes);
  try {
    await queryBucket(
      async ({ abortSignal }) => {
        const answer = await urls.find(object);
        if (answer?.answer !== 'upload') return;
        const url = checkedHref(answer.href, client);
        const headers = checkedHeaders(answer.header);
        const part = { url, headers, file, start: 0, bytes: object.stored_bytes };
        const sending = send({ ...part, onRead: checksum.take, onBytes, signal: abortSignal });
        await sending.catch((error) => {
          if (statusOf(error) === 403) urls.forget(object.sha256);
          throw error;
        });
      },
      { name, signal },
    );
  } catch (error) {
    // The bucket rejects a file that differs from its manifest.
    if (await checksum.differs(object.stored_sha256)) throw new ContentDiffers();
    if (statusOf(error) !== 412) throw error;
    // Another client was faster.
    onBytes(object.stored_bytes);
  }
  return verify({ sha256: object.sha256 });
}

interface Parts extends UploadOptions {
  answer: Extract<UploadAnswer, { answer: 'upload_parts' }>;
  /** Parts that the bucket has, by number. */
  etags: Record<string, string>;
}

async function sendParts(outgoing: OpenedFile, parts: Parts) {
  const { file, path, object, signal, onBytes } = outgoing;
  const { name, client, urls, send, verify, unfinished, answer } = parts;
  const { upload_id, part_bytes } = answer;
  const { sha256, stored_sha256, stored_bytes } = object;
  const count = Math.ceil(stored_bytes / part_bytes);
  if (part_bytes < SMALLEST_PART || count > MOST_PARTS) throw client.invalid('invalid parts of an upload');
  const etags: Record<string, string> = { ...parts.etags };
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const lengthOf = (number: number): number => Math.min(part_bytes, stored_bytes - (number - 1) * part_bytes);
  const lacking = numbers.filter((number) => etags[number] === undefined);
  for (const number of numbers) if (!lacking.includes(number)) onBytes(lengthOf(number));
  const checksum = createPassingChecksum(file, stored_bytes);
  const hrefs = createPartUrls({ urls, client, object: { ...object, upload_id }, answer });
  const sendPart = async (number: number): Promise<void> => {
    const part = { file, headers: {}, start: (number - 1) * part_bytes, bytes: lengthOf(number) };
    etags[number] = await queryBucket(
      async ({ abortSignal }) => {
        const url = checkedHref(await hrefs.find(number), client);
        const sending = send({ ...part, url, onRead: checksum.take, onBytes, signal: abortSignal });
        return await sending.catch((error) => {
          if (statusOf(error) === 403) hrefs.forget(number);
          throw error;
        });
      },
      { name, signal },
    );
    await unfinished.write(sha256, { stored_sha256, stored_bytes, upload_id, part_bytes, etags: { ...etags } });
  };
  try {
    await mapWithConcurrency(lacking, PARTS_AT_ONCE, sendPart);
  } catch (error) {
    // The bucket removed the upload.
    if (isMissing(error)) return 'missing' as const;
    throw error;
  }
  const differs =
    lacking.length < count ? (await hashFile(path)) !== stored_sha256 : await checksum.differs(stored_sha256);
  if (differs) {
    await unfinished.remove(sha256);
    throw new ContentDiffers();
  }
  const verdict = await verify({ sha256, upload_id, etags: numbers.map((number) => etags[number] ?? '') });
  if (verdict === 'stored') await unfinished.remove(sha256);
  return verdict;
}

interface PartUrlsOptions {
  urls: UploadUrls;
  client: CloudClient;
  object: OutgoingObject;
  answer: Parts['answer'];
}

/** URLs of the parts of one upload: the first answer has as many as fit. */
function createPartUrls({ urls, client, object, answer }: PartUrlsOptions) {
  const known = new Map(answer.parts.map((href, index) => [answer.from_part + index, href]));
  let asking: Promise<void> = Promise.resolve();

  async function ask(number: number): Promise<void> {
    if (known.has(number)) return;
    const more = await urls.find({ ...object, from_part: number });
    if (more?.answer !== 'upload_parts' || more.upload_id !== object.upload_id || more.from_part !== number) {
      throw client.invalid('invalid parts of an upload');
    }
    for (const [index, href] of more.parts.entries()) known.set(number + index, href);
  }

  return {
    async find(number: number): Promise<string> {
      if (!known.has(number)) {
        asking = asking.catch(() => {}).then(() => ask(number));
        await asking;
      }
      const href = known.get(number);
      if (href === undefined) throw client.invalid('invalid parts of an upload');
      return href;
    },
    forget(number: number): void {
      known.delete(number);
      urls.forget(object.sha256);
    },
  };
}

/** The SHA-256 of a file while its pieces are read, some of them repeatedly. */
function createPassingChecksum(file: FileHandle, bytes: number) {
  const checksum = createChecksum(file);
  const seen = new Set<number>();
  let passed = 0;
  let digest: Promise<string | null> | null = null;
  return {
    take(piece: Buffer, position: number): void {
      if (seen.has(position)) return;
      seen.add(position);
      passed += piece.length;
      checksum.update(piece, position);
    },
    /** `false` until all bytes were read. */
    async differs(sha256: string): Promise<boolean> {
      if (passed < bytes) return false;
      digest ??= checksum.digest();
      return (await digest) !== sha256;
    },
  };
}

function notStored(name: string): UserError {
  return new UserError('object_not_stored', `The bucket of ${name} did not store an object as sent`, {
    hint: 'Push again. If it fails again, ask an owner of the hub to check the bucket.',
  });
}
