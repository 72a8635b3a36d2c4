import { performTasks } from '../../runtime/thread-pool.ts';
import {
  type ContentToPack,
  isIntact,
  type PackedContent,
  packContents,
  packOrFind,
  type StoredObject,
} from './pack-object.ts';
import { checkStored, type ObjectToRead, readFrames } from './read-object.ts';
import { ownsMemory, release } from './release.ts';

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

export type WorkerAnswer =
  | { reply: 'bytes'; bytes: number }
  | { reply: 'packed'; packed: PackedContent }
  | { reply: 'packed-contents'; packed: PackedContent[] }
  | { reply: 'frame'; frame: Uint8Array<ArrayBuffer> | null }
  | { reply: 'frames'; frames: Uint8Array<ArrayBuffer>[] }
  | { reply: 'checked' }
  | { reply: 'intact'; isIntact: boolean };

/** Interval in ms between checks of a growing source: first, and maximum. */
const FIRST_POLL = 0.5;
const LONGEST_POLL = 20;

let reading: Generator<Uint8Array<ArrayBuffer>, void> | null = null;

performTasks<WorkerTask, WorkerAnswer>(async (task, answer) => {
  switch (task.task) {
    case 'pack': {
      const complete = new Int32Array(task.complete);
      let poll = FIRST_POLL;
      const packed = packOrFind({
        ...task,
        complete: () => Atomics.load(complete, 0) === 1,
        wait: () => {
          Atomics.wait(complete, 0, 0, poll);
          poll = Math.min(LONGEST_POLL, poll * 2);
        },
        onBytes: (bytes) => answer({ reply: 'bytes', bytes }),
      });
      answer({ reply: 'packed', packed });
      return;
    }
    case 'pack-contents': {
      const packed = await packContents(task.contents, task.store);
      answer({ reply: 'packed-contents', packed });
      return;
    }
    case 'check':
      for (const frame of readFrames(task)) {
        answer({ reply: 'bytes', bytes: frame.length });
        release(frame);
      }
      answer({ reply: 'checked' });
      return;
    case 'check-stored':
      checkStored(task, task.storedSha256);
      answer({ reply: 'checked' });
      return;
    case 'is-intact':
      answer({ reply: 'intact', isIntact: isIntact(task.path, task.storedSha256) });
      return;
    case 'read-whole': {
      const frames = [...readFrames(task)];
      answer(
        { reply: 'frames', frames },
        frames.filter(ownsMemory).map(({ buffer }) => buffer),
      );
      return;
    }
    case 'read':
      reading = readFrames(task);
      return;
    case 'next': {
      const next = reading?.next();
      const frame = !next || next.done ? null : next.value;
      answer({ reply: 'frame', frame }, frame && ownsMemory(frame) ? [frame.buffer] : []);
      return;
    }
    case 'close':
      reading?.return();
      reading = null;
      return;
    default:
      task satisfies never;
  }
});
