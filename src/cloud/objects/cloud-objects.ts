import { createBufferPool } from '../../repository/buffer-pool.ts';
import { clearEnvelope } from '../../repository/encryption/envelope.ts';
import type { Manifest, ManifestFile } from '../../repository/manifest/manifest.ts';
import { filesOf } from '../../repository/repository.ts';
import { CONNECTION_TIMEOUT, IDLE_TIMEOUT } from '../../repository/s3/client.ts';
import { BYTES_GATHERED, downloadFile, type RangeReader, totalIn } from '../../repository/s3/download.ts';
import {
  type AnswerHead,
  createHttpReader,
  type HttpReader,
  type SignedRequest,
  type TakePiece,
} from '../../repository/s3/http-reader.ts';
import { objectKey } from '../../repository/store/keys.ts';
import type { ObjectStore } from '../../repository/store/store.ts';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import type { CloudClient } from '../client.ts';
import { bucketRefusal, MOST_ERROR_BYTES, queryBucket, statusOf } from './bucket-answer.ts';
import { createDownloadUrls, type DownloadUrls } from './download-urls.ts';
import { checkedHref } from './href.ts';
import { createSender } from './send.ts';
import { createUnfinishedUploads } from './unfinished-uploads.ts';
import { begunUpload, uploadObject } from './upload.ts';
import { createUploadUrls, type OutgoingObject } from './upload-urls.ts';
import { createVerifier } from './verifier.ts';

export interface CloudObjectsOptions {
  /** Name of the remote repository. */
  name: string;
  client: CloudClient;
  target: string;
  /** The working directory. */
  directory: string;
  signal: AbortSignal;
}

/** Memory of pieces that are sent; also bounds how many are sent at the same moment. */
const BYTES_SENT_AT_ONCE = 8 * 1024 * 1024;

const READS_AT_ONCE = 16;

/** They share requests. */
const VERIFIED_AT_ONCE = 200;

/** The objects of a target's snapshots, which pass between this machine and the bucket by URLs that the hub signs. */
export function createCloudObjects(
  options: CloudObjectsOptions,
): (manifest: Manifest, sha256s?: string[]) => ObjectStore {
  const { name, client, target, directory, signal } = options;
  const send = createSender(createBufferPool(BYTES_SENT_AT_ONCE));
  const buffers = createBufferPool(BYTES_GATHERED);
  const reader = createHttpReader({ connectionTimeout: CONNECTION_TIMEOUT, idleTimeout: IDLE_TIMEOUT });
  return (manifest, chunks) => {
    const { sanitized, id: snapshot } = manifest;
    const files = new Map(filesOf(manifest).map((file) => [objectKey(file.sha256), file]));
    const sha256s = chunks ?? [...files.values()].map(({ sha256 }) => sha256);
    const hashOf = (key: string): string => files.get(key)?.sha256 ?? key.slice(key.lastIndexOf('/') + 1);
    const urls = createUploadUrls({ client, target, sanitized, signal });
    const unfinished = createUnfinishedUploads(directory, `${client.endpoint} ${target} ${sanitized}`);
    const verify = createVerifier(client, { target, sanitized });
    const uploading = { name, client, urls, verify, send, unfinished };
    const ranges = hrefRanges({
      name,
      client,
      reader,
      hashOf,
      urls: createDownloadUrls({ client, target, snapshot, sha256s }),
    });
    return {
      async present(keys) {
        const outgoing = keys.flatMap((key) => outgoingOf(files.get(key)));
        const asked = await mapWithConcurrency(outgoing, READS_AT_ONCE, async (object) => {
          const begun = await begunUpload({ object }, uploading);
          return begun ? { ...object, upload_id: begun.upload_id } : object;
        });
        const present = await urls.present(asked);
        const known = new Set(outgoing.map(({ sha256 }) => sha256));
        // What was not packed yet has no stored checksum.
        const others = keys.map(hashOf).filter((sha256) => !known.has(sha256));
        await mapWithConcurrency(others, VERIFIED_AT_ONCE, async (sha256) => {
          if ((await verify({ sha256 })) === 'stored') present.add(sha256);
        });
        return new Set(keys.filter((key) => present.has(hashOf(key))));
      },
      put: (key, path, { sha256: stored_sha256, ...transfer }) =>
        uploadObject({ ...transfer, path, sha256: hashOf(key), stored_sha256 }, uploading),
      get: (key, path, transfer) => downloadFile(key, path, { ranges, buffers, ...transfer }),
    };
  };
}

/** Returns the object that the manifest describes; without its stored checksum the file must be read. */
function outgoingOf(file: ManifestFile | undefined): OutgoingObject[] {
  if (file?.stored_sha256 === undefined) return [];
  const { sha256, stored_sha256, stored_bytes } = file;
  return [{ sha256, stored_sha256, stored_bytes }];
}

interface HrefRanges {
  name: string;
  client: CloudClient;
  reader: HttpReader;
  urls: DownloadUrls;
  hashOf: (key: string) => string;
}

function hrefRanges({ name, client, reader, urls, hashOf }: HrefRanges): RangeReader {
  return {
    envelope: clearEnvelope,
    ask: (request, signal) => queryBucket(request, { name, signal }),
    async fetch({ key, range, etag }, { take, abortSignal }) {
      const sha256 = hashOf(key);
      const url = checkedHref(await urls.find(sha256), client);
      const errors: Buffer[] = [];
      let gathered = 0;
      const takePiece = (piece: Buffer, { statusCode, headers }: AnswerHead): Promise<void> | undefined => {
        if (statusCode < 300) return take(piece, totalIn(headers));
        gathered += piece.length;
        if (gathered < MOST_ERROR_BYTES) errors.push(Buffer.from(piece));
        return undefined;
      };
      const headers = { range, ...(etag && { 'if-match': etag }) };
      const head =
        (await reader.get(requestOf(url, headers), { signal: abortSignal, take: takePiece })) ??
        (await fetchWithoutLength(url, { headers, signal: abortSignal, take: takePiece }));
      const { statusCode } = head;
      if (statusCode < 300)
        return { total: totalIn(head.headers), bytes: bytesIn(head.headers), etag: head.headers.etag };
      // An empty object has no range.
      if (statusCode === 416) return { total: 0, bytes: 0, etag: head.headers.etag };
      const refusal = bucketRefusal(statusCode, Buffer.concat(errors).toString());
      if (statusOf(refusal) === 403) urls.forget(sha256);
      throw refusal;
    },
  };
}

/** For an answer in chunks, which is how Amazon S3 refuses requests. Follows no redirection. */
async function fetchWithoutLength(
  url: URL,
  { headers, signal, take }: { headers: Record<string, string>; signal: AbortSignal; take: TakePiece },
): Promise<AnswerHead> {
  const response = await fetch(url, { headers, redirect: 'manual', signal });
  const head = { statusCode: response.status, headers: Object.fromEntries(response.headers) };
  for await (const piece of response.body ?? []) await take(Buffer.from(piece), head);
  return head;
}

/** Returns the bytes of the answer; in chunks, without a length, the range states them. */
function bytesIn(headers: Record<string, string>): number {
  const length = headers['content-length'];
  if (length !== undefined) return Number(length);
  const [, first = '0', last = '-1'] = /^bytes (\d+)-(\d+)\//.exec(headers['content-range'] ?? '') ?? [];
  return Number(last) - Number(first) + 1;
}

function requestOf(
  { protocol, hostname, port, host, pathname, search }: URL,
  headers: Record<string, string>,
): SignedRequest {
  return {
    protocol,
    hostname,
    ...(port !== '' && { port: Number(port) }),
    path: `${pathname}${search}`,
    query: {},
    headers: { host, ...headers },
  };
}
