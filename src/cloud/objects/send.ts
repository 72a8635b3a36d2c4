import type { FileHandle } from 'node:fs/promises';
import { type ClientRequest, request as httpRequest, type IncomingMessage, Agent as PlainAgent } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import type { BufferPool } from '../../repository/buffer-pool.ts';
import { IDLE_TIMEOUT } from '../../repository/s3/client.ts';
import { bucketRefusal, MOST_ERROR_BYTES } from './bucket-answer.ts';

export interface SentPart {
  url: URL;
  headers: Record<string, string>;
  file: FileHandle;
  start: number;
  bytes: number;
  onRead: (piece: Buffer, position: number) => void;
  onBytes: (bytes: number) => void;
  signal: AbortSignal;
}

/** Sends a part of a file by a signed URL, and returns its ETag. Follows no redirection and sends no token. */
export type Send = (part: SentPart) => Promise<string>;

/** One piece at a time, whose memory is used again. */
const PIECE_BYTES = 1024 * 1024;

const SOCKETS = 16;

export function createSender(buffers: BufferPool): Send {
  const options = { keepAlive: true, maxSockets: SOCKETS };
  const [plain, tls] = [new PlainAgent(options), new TlsAgent(options)];
  return async (part) => {
    const { url, headers, bytes, signal } = part;
    using room = await buffers.acquire(Math.min(PIECE_BYTES, Math.max(1, bytes)));
    const [send, agent] = url.protocol === 'https:' ? [httpsRequest, tls] : [httpRequest, plain];
    const request = send(url, {
      method: 'PUT',
      headers: { ...headers, 'content-length': bytes },
      agent,
      signal,
      timeout: IDLE_TIMEOUT,
    });
    request.on('timeout', () => {
      request.destroy(Object.assign(new Error('there was no answer in time'), { name: 'TimeoutError' }));
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve).once('error', reject);
    });
    answered.catch(() => {});
    let sent = 0;
    const count = (more: number): void => {
      sent += more;
      part.onBytes(more);
    };
    try {
      await sendBody(request, { ...part, onBytes: count, room: room.bytes, answered });
      const answer = await answered;
      const text = await textOf(answer);
      if (!request.writableEnded) request.destroy();
      const { statusCode = 0 } = answer;
      if (statusCode < 200 || statusCode > 299) throw bucketRefusal(statusCode, text);
      return answer.headers.etag ?? '';
    } catch (error) {
      request.destroy();
      part.onBytes(-sent);
      throw error;
    }
  };
}

interface PartBody extends SentPart {
  room: Buffer;
  answered: Promise<IncomingMessage>;
}

/** Ends early when the answer does not wait for the whole body: it is a refusal. */
async function sendBody(request: ClientRequest, sending: PartBody): Promise<void> {
  const { file, start, bytes, room, answered, onRead, onBytes } = sending;
  for (let sent = 0; sent < bytes; ) {
    const { bytesRead } = await file.read(room, 0, Math.min(room.length, bytes - sent), start + sent);
    if (bytesRead === 0) throw new Error('the file became shorter while it was sent');
    const piece = room.subarray(0, bytesRead);
    onRead(piece, start + sent);
    const isAnswered = await Promise.race([written(request, piece), answered.then(() => true)]);
    if (isAnswered) return;
    sent += bytesRead;
    onBytes(bytesRead);
  }
  request.end();
}

function written(request: ClientRequest, piece: Buffer): Promise<false> {
  return new Promise((resolve, reject) => {
    request.write(piece, (error) => (error ? reject(error) : resolve(false)));
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MOST_ERROR_BYTES) break;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}
