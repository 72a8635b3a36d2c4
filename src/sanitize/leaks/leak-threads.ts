import { Worker } from 'node:worker_threads';
import type { LeakAnswer, LeakReply, LeakTask } from './leak-worker.ts';

/** Threads that read stored rows; further tasks wait for a free one. */
export interface LeakThreads extends AsyncDisposable {
  run<Answer extends LeakAnswer['answer']>(
    task: LeakTask,
    answer: Answer,
  ): Promise<Extract<LeakAnswer, { answer: Answer }>>;
}

interface PendingTask {
  task: LeakTask;
  resolve: (answer: LeakAnswer) => void;
  reject: (error: Error) => void;
}

/** Frames and the table of values are outside the heap. */
const HEAP = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };

export function createLeakThreads(size: number, signal: AbortSignal): LeakThreads {
  const queue: PendingTask[] = [];
  const active = new Map<Worker, PendingTask>();
  const idle: Worker[] = [];
  const all: Worker[] = [];
  let isClosed = false;

  function fail(error: Error): void {
    isClosed = true;
    for (const { reject } of [...queue.splice(0), ...active.values()]) reject(error);
    active.clear();
  }

  function start(): Worker {
    const worker = new Worker(workerFile(), { name: 'leaks', resourceLimits: HEAP });
    worker.on('message', (reply: LeakReply) => {
      const waiting = active.get(worker);
      active.delete(worker);
      idle.push(worker);
      if (reply.reply === 'done') waiting?.resolve(reply.result);
      else waiting?.reject(Object.assign(new Error(reply.message), { code: reply.code }));
      next();
    });
    worker.on('error', fail);
    all.push(worker);
    return worker;
  }

  function next(): void {
    while (queue.length > 0 && (idle.length > 0 || all.length < size)) {
      const waiting = queue.shift();
      if (!waiting) return;
      const worker = idle.pop() ?? start();
      active.set(worker, waiting);
      worker.postMessage(waiting.task);
    }
  }

  const abort = (): void => fail(signal.reason);
  signal.addEventListener('abort', abort, { once: true });

  return {
    async run(task, answer) {
      signal.throwIfAborted();
      if (isClosed) throw new Error('the threads are closed');
      const { promise, resolve, reject } = Promise.withResolvers<LeakAnswer>();
      queue.push({ task, resolve, reject });
      next();
      const given = await promise;
      if (given.answer !== answer) throw new Error(`the thread answered ${given.answer}`);
      return given as Extract<LeakAnswer, { answer: typeof answer }>;
    },
    async [Symbol.asyncDispose]() {
      signal.removeEventListener('abort', abort);
      fail(new Error('the threads are closed'));
      await Promise.all(all.map((worker) => worker.terminate()));
    },
  };
}

function workerFile(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './leak-worker.ts' : './leak-worker.js', import.meta.url);
}
