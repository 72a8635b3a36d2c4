import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { endThread } from '../../src/runtime/thread-pool.ts';

const POOL = new URL('../../src/runtime/thread-pool.ts', import.meta.url);

/** A thread whose tasks last so many milliseconds, without a turn of its event loop. */
async function startThread(): Promise<Worker> {
  const source = `import('${POOL}').then(({ performTasks }) => {
    performTasks((ms, answer) => {
      answer('begun');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
      answer('done');
    });
    require('node:worker_threads').parentPort.postMessage('ready');
  });`;
  const worker = new Worker(source, { eval: true });
  await once(worker, 'message');
  return worker;
}

async function endDuringTask(worker: Worker, ms: number): Promise<{ code: number; answers: string[] }> {
  const answers: string[] = [];
  worker.on('message', ({ answer }) => answers.push(answer));
  const exited = once(worker, 'exit');
  worker.postMessage({ ticket: 1, task: ms });
  await once(worker, 'message');
  await endThread(worker);
  const [code] = await exited;
  return { code, answers };
}

test('a thread ends after its task, not in the middle of it', async () => {
  expect(await endDuringTask(await startThread(), 300)).toEqual({ code: 0, answers: ['begun', 'done'] });
});

test('a thread whose task lasts too long is terminated', async () => {
  expect(await endDuringTask(await startThread(), 600_000)).toEqual({ code: 1, answers: ['begun'] });
});

test('the end of a thread that has ended resolves', async () => {
  const worker = await startThread();
  await worker.terminate();
  await endThread(worker);
});
