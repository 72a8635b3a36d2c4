import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, type ResourceLimits, Worker } from 'node:worker_threads';

/** Worker threads with one task each; further tasks wait for a free one. */
export interface ThreadPool<Task, Answer> {
  /** Starts a thread while the caller waits for something else. */
  start(): void;
  isStarted(): boolean;
  acquire(): Promise<TaskChannel<Task, Answer>>;
  /** Ends the threads, and rejects what waits for them. */
  close(): Promise<void>;
}

/** The channel of one task to its thread; disposing returns the thread. */
export interface TaskChannel<Task, Answer> extends Disposable {
  send(task: Task, memory?: ArrayBuffer[]): void;
  receive(): Promise<Answer>;
}

interface ThreadPoolOptions {
  file: URL;
  name: string;
  size: number;
  heap?: ResourceLimits;
  /** Closes the pool. */
  signal?: AbortSignal;
}

/** The ticket of the task: late answers of an abandoned task are discarded. */
interface ThreadRequest<Task> {
  ticket: number;
  task: Task;
}

type ThreadReply<Answer> = { ticket: number } & ({ answer: Answer } | { failed: { message: string; code?: string } });

interface Thread<Answer> {
  worker: Worker;
  inbox: ((reply: ThreadReply<Answer>) => void) | null;
  /** Absent before its first task. */
  hasWorked?: true;
}

export function createThreadPool<Task, Answer>(options: ThreadPoolOptions): ThreadPool<Task, Answer> {
  const { file, name, size, heap, signal } = options;
  const idle: Thread<Answer>[] = [];
  const all: Thread<Answer>[] = [];
  const waiting: PromiseWithResolvers<Thread<Answer>>[] = [];
  const closed = new AbortController();
  let tickets = 0;

  function start(): Thread<Answer> {
    const worker = new Worker(file, { name, ...(heap && { resourceLimits: heap }) });
    const thread: Thread<Answer> = { worker, inbox: null };
    worker.on('message', (reply: ThreadReply<Answer>) => thread.inbox?.(reply));
    worker.on('error', (error) => void end(error));
    all.push(thread);
    return thread;
  }

  async function end(reason: unknown): Promise<void> {
    closed.abort(reason);
    for (const turn of waiting.splice(0)) turn.reject(reason);
    await Promise.all(all.map(({ worker, hasWorked }) => (hasWorked ? endThread(worker) : worker.terminate())));
  }

  function take(): Promise<Thread<Answer>> {
    signal?.throwIfAborted();
    closed.signal.throwIfAborted();
    const free = idle.pop();
    if (free) return Promise.resolve(free);
    if (all.length < size) return Promise.resolve(start());
    const turn = Promise.withResolvers<Thread<Answer>>();
    waiting.push(turn);
    return turn.promise;
  }

  function giveBack(thread: Thread<Answer>): void {
    thread.inbox = null;
    const next = waiting.shift();
    if (next) next.resolve(thread);
    else idle.push(thread);
  }

  signal?.addEventListener('abort', () => void end(signal.reason), { signal: closed.signal });
  return {
    start: () => void idle.push(start()),
    isStarted: () => all.length > 0,
    async acquire() {
      const thread = await take();
      thread.hasWorked = true;
      tickets += 1;
      return openChannel({ thread, ticket: tickets, closed: closed.signal, giveBack });
    },
    close: () => end(new Error(`the pool of threads "${name}" is closed`)),
  };
}

interface ChannelOptions<Answer> {
  thread: Thread<Answer>;
  ticket: number;
  closed: AbortSignal;
  giveBack: (thread: Thread<Answer>) => void;
}

function openChannel<Task, Answer>(options: ChannelOptions<Answer>): TaskChannel<Task, Answer> {
  const { thread, ticket, closed, giveBack } = options;
  const replies: ThreadReply<Answer>[] = [];
  let receiver: PromiseWithResolvers<Answer> | null = null;

  function settle(): void {
    if (!receiver) return;
    if (closed.aborted) {
      receiver.reject(closed.reason);
      return;
    }
    const reply = replies.shift();
    if (!reply) return;
    const { resolve, reject } = receiver;
    receiver = null;
    if ('answer' in reply) resolve(reply.answer);
    else reject(Object.assign(new Error(), reply.failed));
  }

  thread.inbox = (reply) => {
    if (reply.ticket !== ticket) return;
    replies.push(reply);
    settle();
  };
  closed.addEventListener('abort', settle, { once: true });

  return {
    send: (task, memory = []) => thread.worker.postMessage({ ticket, task } satisfies ThreadRequest<Task>, memory),
    receive() {
      receiver = Promise.withResolvers();
      const { promise } = receiver;
      settle();
      return promise;
    },
    [Symbol.dispose]() {
      closed.removeEventListener('abort', settle);
      if (!closed.aborted) giveBack(thread);
    },
  };
}

/** Milliseconds within which a thread ends its task. */
const TASK_ENDS_WITHIN = 2000;

/**
 * Ends a thread after its task, which receives `null`: Node aborts the whole process where one is terminated while it
 * creates a compression stream.
 */
export async function endThread(worker: Worker): Promise<void> {
  const ended = new AbortController();
  const deadline = wait(TASK_ENDS_WITHIN, undefined, { signal: ended.signal, ref: false }).catch(() => {});
  worker.once('exit', () => ended.abort());
  worker.postMessage(null);
  if (worker.threadId !== EXITED) await deadline;
  await worker.terminate();
}

/** The identifier of a thread that has ended. */
const EXITED = -1;

/** Sends an answer of a thread; its memory is moved. */
export type SendAnswer<Answer> = (answer: Answer, memory?: ArrayBuffer[]) => void;

/** Performs the tasks of a pool, in its thread. */
export function performTasks<Task, Answer>(
  perform: (task: Task, answer: SendAnswer<Answer>) => void | Promise<void>,
): void {
  const port = parentPort;
  if (!port) throw new Error('a worker of a thread pool runs in a worker thread only');
  const reply = (message: ThreadReply<Answer>, memory?: ArrayBuffer[]): void => port.postMessage(message, memory);
  port.on('message', async (request: ThreadRequest<Task> | null) => {
    if (request === null) process.exit();
    const { ticket, task } = request;
    try {
      await perform(task, (answer, memory) => reply({ ticket, answer }, memory));
    } catch (thrown) {
      const { message, code } = thrown as NodeJS.ErrnoException;
      reply({ ticket, failed: { message, ...(code !== undefined && { code }) } });
    }
  });
}

/** The worker beside a module: TypeScript when run from source, its bundle in `dist/`. */
export function workerFile(module: string, name: string): URL {
  return new URL(`./${name}.${module.endsWith('.ts') ? 'ts' : 'js'}`, module);
}
