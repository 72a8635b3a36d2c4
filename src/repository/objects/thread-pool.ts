import { Worker } from 'node:worker_threads';
import type { WorkerAnswer, WorkerReply, WorkerTask } from './object-worker.ts';

/** The channel of one task to its thread; disposing returns the thread. */
export interface TaskChannel extends AsyncDisposable {
  send(task: WorkerTask, memory?: ArrayBuffer[]): void;
  receive(): Promise<WorkerAnswer>;
}

export interface ThreadPool {
  /** Starts a thread while the caller waits for something else. */
  start(): void;
  isStarted(): boolean;
  acquire(): Promise<TaskChannel>;
  close(): Promise<void>;
}

interface Thread {
  worker: Worker;
  ticket: number;
  inbox: ((reply: WorkerReply) => void) | null;
}

/** The frames are outside the heap. */
const HEAP = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 };

export function createThreadPool(size: number): ThreadPool {
  const idle: Thread[] = [];
  const all: Thread[] = [];
  const waiting: PromiseWithResolvers<Thread>[] = [];
  const closed = new AbortController();
  let tickets = 0;

  function start(): Thread {
    const worker = new Worker(workerFile(), { name: 'objects', resourceLimits: HEAP });
    const thread: Thread = { worker, ticket: 0, inbox: null };
    thread.worker.on('message', (reply: WorkerReply) => thread.inbox?.(reply));
    thread.worker.on('error', (error) =>
      thread.inbox?.({ ticket: thread.ticket, reply: 'failed', message: error.message, code: null }),
    );
    all.push(thread);
    return thread;
  }

  function take(): Promise<Thread> {
    closed.signal.throwIfAborted();
    const free = idle.pop();
    if (free) return Promise.resolve(free);
    if (all.length < size) return Promise.resolve(start());
    const turn = Promise.withResolvers<Thread>();
    waiting.push(turn);
    return turn.promise;
  }

  function giveBack(thread: Thread): void {
    thread.inbox = null;
    const next = waiting.shift();
    if (next) next.resolve(thread);
    else idle.push(thread);
  }

  return {
    start: () => void idle.push(start()),
    isStarted: () => all.length > 0,
    async acquire() {
      const thread = await take();
      tickets += 1;
      return conversation({ thread, ticket: tickets, closed: closed.signal, giveBack });
    },
    async close() {
      const reason = new Error('the object pool is closed');
      closed.abort(reason);
      for (const turn of waiting.splice(0)) turn.reject(reason);
      await Promise.all(all.map((thread) => thread.worker.terminate()));
    },
  };
}

interface Conversation {
  thread: Thread;
  ticket: number;
  closed: AbortSignal;
  giveBack: (thread: Thread) => void;
}

function conversation({ thread, ticket, closed, giveBack }: Conversation): TaskChannel {
  const answers: WorkerReply[] = [];
  let isReading = false;
  let receiver: PromiseWithResolvers<WorkerAnswer> | null = null;

  function settle(): void {
    if (!receiver) return;
    if (closed.aborted) {
      receiver.reject(closed.reason);
      return;
    }
    const reply = answers.shift();
    if (!reply) return;
    const { resolve, reject } = receiver;
    receiver = null;
    if (reply.reply === 'failed') reject(Object.assign(new Error(reply.message), { code: reply.code }));
    else resolve(reply);
  }

  thread.ticket = ticket;
  thread.inbox = (reply) => {
    if (reply.ticket !== ticket) return;
    answers.push(reply);
    settle();
  };
  closed.addEventListener('abort', settle, { once: true });

  return {
    send(task, memory = []) {
      isReading ||= task.task === 'read';
      thread.worker.postMessage({ ticket, ...task }, memory);
    },
    receive() {
      receiver = Promise.withResolvers();
      const { promise } = receiver;
      settle();
      return promise;
    },
    async [Symbol.asyncDispose]() {
      closed.removeEventListener('abort', settle);
      if (closed.aborted) return;
      if (isReading) thread.worker.postMessage({ ticket, task: 'close' } satisfies { ticket: number } & WorkerTask);
      giveBack(thread);
    },
  };
}

function workerFile(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './object-worker.ts' : './object-worker.js', import.meta.url);
}
