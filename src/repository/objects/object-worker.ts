import { parentPort } from 'node:worker_threads';
import {
  type ContentToPack,
  checkStored,
  isIntact,
  type ObjectToRead,
  type PackedContent,
  packContents,
  packOrFind,
  readFrames,
  type StoredObject,
} from './object-file.ts';
import { ownsMemory, release } from './release.ts';

export type WorkerRequest = { ticket: number } & WorkerTask;

export type WorkerTask =
  | {
      task: 'pack';
      source: string;
      destination: string;
      terminator: string | null;
      complete: SharedArrayBuffer;
      /** The object that a complete source may be equal to. */
      stored: StoredObject | null;
    }
  | { task: 'pack-contents'; contents: ContentToPack[]; store: string }
  | ({ task: 'check' } & ObjectToRead)
  | ({ task: 'check-stored'; storedSha256: string | undefined } & ObjectToRead)
  | { task: 'is-intact'; path: string; storedSha256: string }
  /** All frames in one answer. */
  | ({ task: 'read-whole' } & ObjectToRead)
  | ({ task: 'read' } & ObjectToRead)
  | { task: 'next' }
  | { task: 'close' };

/** The ticket of the task: late answers of an abandoned task are discarded. */
export type WorkerReply = { ticket: number } & WorkerAnswer;

export type WorkerAnswer =
  | { reply: 'bytes'; bytes: number }
  | { reply: 'packed'; packed: PackedContent }
  | { reply: 'packed-contents'; packed: PackedContent[] }
  | { reply: 'frame'; frame: Uint8Array<ArrayBuffer> | null }
  | { reply: 'frames'; frames: Uint8Array<ArrayBuffer>[] }
  | { reply: 'checked' }
  | { reply: 'intact'; isIntact: boolean }
  | { reply: 'failed'; message: string; code: string | null };

/** Interval in ms between checks of a growing source: first, and maximum. */
const FIRST_POLL = 0.5;
const LONGEST_POLL = 20;

const port = parentPort;
if (!port) throw new Error('object-worker runs in a worker thread only');
let reading: Generator<Uint8Array<ArrayBuffer>, void> | null = null;

port.on('message', async (request: WorkerRequest) => {
  try {
    await answer(request);
  } catch (thrown) {
    const error = thrown as NodeJS.ErrnoException;
    port.postMessage({ ticket: request.ticket, reply: 'failed', message: error.message, code: error.code ?? null });
  }
});

async function answer(request: WorkerRequest): Promise<void> {
  const reply = (message: WorkerAnswer, transfer: ArrayBuffer[] = []): void =>
    port?.postMessage({ ticket: request.ticket, ...message }, transfer);
  switch (request.task) {
    case 'pack': {
      const complete = new Int32Array(request.complete);
      let poll = FIRST_POLL;
      const packed = packOrFind({
        ...request,
        complete: () => Atomics.load(complete, 0) === 1,
        wait: () => {
          Atomics.wait(complete, 0, 0, poll);
          poll = Math.min(LONGEST_POLL, poll * 2);
        },
        onBytes: (bytes) => reply({ reply: 'bytes', bytes }),
      });
      reply({ reply: 'packed', packed });
      return;
    }
    case 'pack-contents': {
      const packed = await packContents(request.contents, request.store);
      reply({ reply: 'packed-contents', packed });
      return;
    }
    case 'check':
      for (const frame of readFrames(request)) {
        reply({ reply: 'bytes', bytes: frame.length });
        release(frame);
      }
      reply({ reply: 'checked' });
      return;
    case 'check-stored':
      checkStored(request, request.storedSha256);
      reply({ reply: 'checked' });
      return;
    case 'is-intact':
      reply({ reply: 'intact', isIntact: isIntact(request.path, request.storedSha256) });
      return;
    case 'read-whole': {
      const frames = [...readFrames(request)];
      reply(
        { reply: 'frames', frames },
        frames.filter(ownsMemory).map(({ buffer }) => buffer),
      );
      return;
    }
    case 'read':
      reading = readFrames(request);
      return;
    case 'next': {
      const next = reading?.next();
      const frame = !next || next.done ? null : next.value;
      reply({ reply: 'frame', frame }, frame && ownsMemory(frame) ? [frame.buffer] : []);
      return;
    }
    case 'close':
      reading?.return();
      reading = null;
      return;
    default:
      request satisfies never;
  }
}
