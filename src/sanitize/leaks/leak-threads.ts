import { createThreadPool, workerFile } from '../../runtime/thread-pool.ts';
import type { LeakAnswer, LeakTask } from './leak-worker.ts';

/** Threads that read stored rows; further tasks wait for a free one. */
export interface LeakThreads extends AsyncDisposable {
  run<Answer extends LeakAnswer['answer']>(
    task: LeakTask,
    answer: Answer,
  ): Promise<Extract<LeakAnswer, { answer: Answer }>>;
}

/** Frames and the table of values are outside the heap. */
const HEAP = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };

export function createLeakThreads(size: number, signal: AbortSignal): LeakThreads {
  const file = workerFile(import.meta.url, 'leak-worker');
  const threads = createThreadPool<LeakTask, LeakAnswer>({ file, name: 'leaks', size, heap: HEAP, signal });
  return {
    async run(task, answer) {
      using channel = await threads.acquire();
      channel.send(task);
      const given = await channel.receive();
      if (given.answer !== answer) throw new Error(`the thread answered ${given.answer}`);
      return given as Extract<LeakAnswer, { answer: typeof answer }>;
    },
    [Symbol.asyncDispose]: () => threads.close(),
  };
}
